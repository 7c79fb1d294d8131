// Node loads this before Qwen Code, whose bundle makes a property, which nothing reads, for each byte of its shell grammar: 4 of
// the 10 processor seconds of every process.  Here the bundle is told of none; the bytes themselves stay as they are.
const names = Object.getOwnPropertyNames;
Object.getOwnPropertyNames = (of) => (of instanceof Uint8Array && of.length > 65536 ? [] : names(of));
