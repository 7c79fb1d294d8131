"""Run a workflow: plan its jobs, ask agents, decide conditions, and record the run so that it can be continued."""
