"""The blind half's cases: kinds, contexts and wraps, written by somebody who knew neither the rules nor the other halves.

A kind is a line of `_KINDS`: title | names it goes by | where it may stand | its format.  Where: `S` tells itself, so it may
stand anywhere; `T` is a token that headers bear; `P` a password; `B` a Basic header's value; `M` has several lines; every
kind but `B` and `M` may stand behind its name.  A format is text with `<a36>` for 36 characters of the alphabet `a`; where
only a part is secret (a URI's password) it stands in `«»`.

In a context `⏎` is a line's end, `§V` the value and `§N §n §c §P §k §d §p` its name in the notations UPPER, snake, camel, Pascal,
kebab, dotted and words; `§Q` is the value as a URL has it, `§B` in base64, `§A` user and value in base64, `§I` indented, `§E` on one line.
"""

from __future__ import annotations

import base64
import itertools
import json
import random
import re
import string
from collections.abc import Callable, Iterator
from urllib.parse import quote

from samples.secrets.building import Case

_KINDS = """
github classic token|github token,gh token|ST|ghp_<a36>
github fine-grained token|github token,gh pat|ST|github_pat_<a22>_<a59>
github app token|github token,installation token|ST|ghs_<a36>
github oauth token|oauth token,github access token|ST|gho_<a36>
gitlab token|gitlab token,ci token|ST|glpat-<w20>
gitlab runner token|runner token|ST|glrt-<w20>
openai project key|openai api key,llm api key|ST|sk-proj-<w74>T3BlbkFJ<w74>
openai key|openai api key,openai key|ST|sk-<a20>T3BlbkFJ<a20>
anthropic key|anthropic api key,claude api key|ST|sk-ant-api03-<w93>AA
anthropic oauth token|claude code oauth token|ST|sk-ant-oat01-<w93>AA
openrouter key|openrouter api key|ST|sk-or-v1-<h64>
deepseek key|deepseek api key|ST|sk-<h32>
groq key|groq api key|ST|gsk_<a52>
xai key|xai api key|ST|xai-<a80>
perplexity key|perplexity api key|ST|pplx-<a48>
hugging face token|hf token,hugging face hub token|ST|hf_<L34>
replicate token|replicate api token|ST|r8_<a37>
aws access key id|aws access key id|S|AKIA<t16>
aws secret access key|aws secret access key,secret access key|N|<b40>
aws session token|aws session token|N|IQoJb3JpZ2luX2Vj<b340>==
google api key|google api key,maps api key,firebase api key|S|AIza<w35>
google oauth client secret|google client secret,oauth client secret|S|GOCSPX-<w28>
google access token|google access token|ST|ya29.a0<w160>
google refresh token|google refresh token|S|1//0<w100>
slack bot token|slack bot token,slack token|ST|xoxb-<d12>-<d13>-<a24>
slack user token|slack user token|ST|xoxp-<d12>-<d12>-<d13>-<h32>
slack app token|slack app token|ST|xapp-1-A<k10>-<d13>-<h64>
slack webhook|slack webhook url|S|https://hooks.slack.com/services/T<k10>/B<k10>/«<a24>»
discord webhook|discord webhook url|S|https://discord.com/api/webhooks/<d19>/«<w68>»
discord bot token|discord token,bot token|ST|<snowflake>.G<w5>.<w38>
telegram bot token|telegram bot token,telegram token|S|<d10>:AA<w33>
stripe live key|stripe secret key,stripe api key|ST|sk_live_<a99>
stripe test key|stripe secret key|ST|sk_test_<a24>
stripe restricted key|stripe key|ST|rk_live_<a99>
stripe webhook secret|stripe webhook secret|S|whsec_<a32>
twilio api key|twilio api key|S|SK<h32>
twilio auth token|twilio auth token|N|<h32>
sendgrid key|sendgrid api key|ST|SG.<w22>.<w43>
mailgun key|mailgun api key|S|key-<h32>
mailchimp key|mailchimp api key|S|<h32>-us<d2>
npm token|npm token,node auth token|ST|npm_<a36>
pypi token|pypi token,twine password|S|pypi-AgEIcHlwaS5vcmc<w150>
docker hub token|dockerhub token|S|dckr_pat_<w27>
digitalocean token|digitalocean token,do api token|ST|dop_v1_<h64>
heroku key|heroku api key|ST|HRKU-AA<w58>
cloudflare token|cloudflare api token,cf api token|NT|<w40>
azure storage key|azure storage key,storage account key|N|<b86>==
azure storage connection|azure storage connection string|S|DefaultEndpointsProtocol=https;AccountName=<l9>;AccountKey=«<b86>==»;EndpointSuffix=core.windows.net
azure sas url|blob sas url|S|https://<l9>.blob.core.windows.net/data?sv=2023-11-03&sp=rl&se=2027-01-01T00:00:00Z&sr=c&sig=«<a40>%2B<a20>%3D»
azure client secret|azure client secret,arm client secret|S|<a3>8Q~<w34>
azure devops pat|azure devops pat,system accesstoken|N|<L52>
databricks token|databricks token|ST|dapi<h32>
vault token|vault token|ST|hvs.CAESI<w90>
terraform cloud token|tfe token,terraform cloud token|ST|<a14>.atlasv1.<a67>
shopify token|shopify access token|ST|shpat_<h32>
square token|square access token|ST|EAAA<w60>
new relic key|new relic api key|S|NRAK-<k27>
datadog key|dd api key,datadog api key|N|<h32>
grafana token|grafana token,grafana service account token|ST|glsa_<a32>_<h8>
sentry token|sentry auth token|ST|sntryu_<h64>
linear key|linear api key|ST|lin_api_<a40>
notion token|notion token,notion api key|ST|ntn_<a46>
airtable token|airtable token,airtable pat|ST|pat<a14>.<h64>
figma token|figma token,figma access token|S|figd_<w40>
postman key|postman api key|S|PMAK-<h24>-<h34>
atlassian token|jira api token,atlassian token|S|ATATT3xFfGF0<w171>=<H8>
facebook token|facebook access token|ST|EAA<a180>
supabase token|supabase access token|ST|sbp_<h40>
supabase key|supabase secret key|S|sb_secret_<w31>
planetscale password|planetscale password|S|pscale_pw_<w43>
fly token|fly api token|S|FlyV1 fm2_<b200>
doppler token|doppler token|ST|dp.pt.<a43>
one password token|op service account token|S|ops_eyJ<w300>
age key|age secret key,sops age key|S|AGE-SECRET-KEY-1<q58>
rubygems key|gem host api key|S|rubygems_<h48>
crates token|cargo registry token|S|cio<a32>
sonar token|sonar token|ST|sqp_<h40>
dynatrace token|dynatrace token,dt api token|S|dt0c01.<t24>.<t64>
artifactory key|artifactory api key|S|AKCp<a69>
mapbox token|mapbox secret token|S|sk.eyJ1Ijoi<w60>.<w22>
tailscale key|ts authkey,tailscale auth key|S|tskey-auth-<a12>CNTRL-<a32>
buildkite token|buildkite agent token|ST|bkua_<h40>
pulumi token|pulumi access token|ST|pul-<h40>
launchdarkly key|launchdarkly sdk key|S|sdk-<uuid>
json web token|access token,jwt,id token,supabase service role key|ST|<jwt>
opaque token|access token,api token,auth token,refresh token|NT|<w48>
hex key|api key,secret key,encryption key,signing secret|NT|<h64>
short hex key|api key,client secret,app secret|NT|<h32>
base64 key|encryption key,session secret,jwt secret,master key|N|<b43>=
uuid key|api key,client secret,auth token|NT|<uuid>
framework secret|django secret key,secret key,cookie secret|N|<s50>
totp seed|totp secret,mfa secret|N|<t32>
otpauth uri|totp uri|S|otpauth://totp/<user>@<host>?secret=«<t32>»&issuer=acme
human password|password,db password,admin password,smtp password|P|<human>
strong password|password,postgres password,mysql root password,redis password,db pass|P|<s18>
letters password|password,db password,keystore password,ldap bind password|P|<a12>
word passphrase|passphrase,password,backup passphrase|P|<words>
postgres uri|database url,pg uri|S|postgresql://<user>:«<a20>»@<host>:5432/<l6>?sslmode=require
mysql uri|mysql url,database url|S|mysql+pymysql://<user>:«<human>»@<host>:3306/<l6>
mongo uri|mongodb uri,mongo url|S|mongodb+srv://<user>:«<a16>»@<host>/<l6>?retryWrites=true
redis uri|redis url,celery broker url|S|rediss://:«<a32>»@<host>:6380/0
amqp uri|rabbitmq url,amqp url|S|amqps://<user>:«<w24>»@<host>/<l6>
smtp uri|mailer dsn,smtp url|S|smtp://<user>%40acme.io:«<a14>%21»@<host>:587
git uri|git remote,repo url|S|https://<user>:«<a24>»@<host>/<l5>/<l6>.git
proxy uri|https proxy,http proxy|S|http://<user>:«<human>»@<host>:3128
sentry dsn|sentry dsn|S|https://«<h32>»@o<d6>.ingest.sentry.io/<d7>
sql server string|connection string,default connection|S|Server=tcp:<host>,1433;Database=<l6>;User ID=<user>;Password=«<s16>»;Encrypt=True
libpq string|dsn,database dsn|S|host=<host> port=5432 user=<user> password=«<a18>» dbname=<l6>
jdbc url|jdbc url,spring datasource url|S|jdbc:postgresql://<host>:5432/<l6>?user=<user>&password=«<a16>»
presigned url|download url|S|https://<l6>.s3.amazonaws.com/a.zip?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=3600&X-Amz-Signature=«<h64>»
basic header|basic auth|B|<basic>
rsa key|private key,tls key|M|<pem:RSA PRIVATE KEY:25>
pkcs8 key|private key,service account key|M|<pem:PRIVATE KEY:26>
ec key|private key,signing key|M|<pem:EC PRIVATE KEY:3>
openssh key|deploy key,ssh private key|M|<pem:OPENSSH PRIVATE KEY:6>
encrypted key|private key|M|<pem:ENCRYPTED PRIVATE KEY:28>
pgp key|gpg private key,signing key|M|<pem:PGP PRIVATE KEY BLOCK:40>
"""

_NAMED = """
export §N=§V
# local⏎DEBUG=true⏎§N=§V⏎PORT=3000
§N="§V"
$ cat .env⏎NODE_ENV=production⏎§N='§V'⏎LOG_LEVEL=info
§n = "§V"
os.environ["§N"] = "§V"
client = Client(§n="§V", timeout=30)
§c = os.getenv("§N", "§V")
config = {"§n": "§V", "debug": False}
const §c = '§V';
process.env.§N = "§V"
const client = new Client({ §c: '§V', retries: 3 })
const k = process.env.§N || '§V'
private readonly §c: string = "§V";
const §P = "§V"
os.Setenv("§N", "§V")
cfg := Config{⏎	Host: "localhost",⏎	§P: "§V",⏎}
pub const §N: &str = "§V";
Command::new("app").env("§N", "§V").spawn()?;
private static final String §N = "§V";
spring.main.banner-mode=off⏎app.§d=§V
var o = new Options { Region = "eu", §P = "§V" };
define('§N', '§V');
    '§n' => '§V',
ENV["§N"] = "§V"
$env:§N = "§V"
[Environment]::SetEnvironmentVariable("§N", "§V", "User")
@echo off⏎set §N=§V⏎call run.bat
setx §N "§V"
server:⏎  port: 8080⏎  §n: §V⏎  debug: false
§c: "§V"
services:⏎  api:⏎    environment:⏎      - TZ=UTC⏎      - §N=§V
    environment:⏎      §N: "§V"
        env:⏎        - name: §N⏎          value: "§V"
kind: Secret⏎stringData:⏎  §k: §V
$ kubectl get secret app -o yaml⏎apiVersion: v1⏎data:⏎  §N: §B⏎kind: Secret⏎type: Opaque
{"kind": "Secret", "data": {"§k": "§B"}}
[service]⏎§n = "§V"⏎retries = 3
[default]⏎region = eu-west-1⏎§n = §V
variable "§n" {⏎  type    = string⏎  default = "§V"⏎}
set_sensitive {⏎  name  = "auth.§c"⏎  value = "§V"⏎}
Run npm run deploy⏎env:⏎  CI: true⏎  §N: §V
gh secret set §N --body "§V"
docker run --rm -e §N=§V -p 80:80 acme/api
"Env": [⏎  "PATH=/usr/bin",⏎  "§N=§V"⏎]
kubectl create secret generic app --from-literal=§k=§V
./deploy --env prod --§k=§V --yes
acme login --§k '§V'
curl -sS -H 'X-§k: §V' https://api.acme.io/v1/me
GET /v1/items?§n=§Q&page=2 HTTP/1.1⏎Host: api.acme.io
curl "https://api.acme.io/v1/items?limit=5&§n=§Q"
POST /oauth/token⏎⏎grant_type=client_credentials&client_id=web&§n=§Q
@@ -1,2 +1,2 @@⏎-§N=changeme⏎+§N=§V
| Variable | Value |⏎|---|---|⏎| `§N` | `§V` |
name,value⏎REGION,eu⏎§N,§V
INSERT INTO settings (key, value) VALUES ('§n', '§V');
UPDATE integrations SET §n = '§V' WHERE id = 4;
     key     |  value⏎-------------+---------⏎ §n | §V⏎(1 row)
 id | §n⏎----+--------⏎  1 | §V⏎(1 row)
id,email,§n⏎1,ann@acme.io,§V
<config><§c>§V</§c></config>
<add key="§P" value="§V" />
<property name="§c" value="§V"/>
<key>§P</key>⏎<string>§V</string>
  File "app.py", line 9, in main⏎    connect(host, §n="§V")⏎TimeoutError: timed out
self = <Api>, host = 'localhost'⏎§n = '§V'⏎⏎>   raise ValueError
INFO loaded settings §n=§V region=eu
{"level":"debug","msg":"config","§c":"§V","pid":12}
The §p is §V
here's my §p: §V, please add it
Use `§V` as the §p.
**§p**: `§V`
I set the §p to "§V" in staging.
$ printenv | grep -i §n⏎§N=§V
declare -x §N="§V"
{"cell_type": "code", "source": ["import os\\n", "§n = \\"§V\\"\\n"]}
%env §N=§V
Settings(host='localhost', §n='§V', port=5)
{'host': 'localhost', '§n': '§V'}
&{Host:localhost §P:§V Port:5}
=> {:host=>"localhost", :§n=>"§V"}
Config { host: "localhost", §n: "§V" }
=== acme Config Vars⏎PORT:    80⏎§N:    §V
│ §N │ §V │
ENV §N §V
ARG §N=§V
[Service]⏎Environment="§N=§V"⏎ExecStart=/usr/bin/api
§N := §V
set -gx §N §V
setenv §N §V
helm upgrade api ./chart --set auth.§c=§V
buildConfigField "String", "§N", "\\"§V\\""
config :acme, §n: "§V"
127.0.0.1:6379> GET §n⏎"§V"
{ _id: 4, name: 'acme', §c: '§V' }
[{"name": "REGION", "value": "eu"}, {"name": "§N", "value": "§V"}]
{"Key": "§n", "Value": "§V"}
aws ssm put-parameter --name /app/§n --type SecureString --value '§V'
====== Data ======⏎Key    Value⏎---    -----⏎§n    §V
? Enter your §p: §V
# §n = "§V"
store.set("§n", "§V")
§ns:⏎  - "§V"⏎replicas: 2
§n: |⏎  §V
§n = (⏎    "§V"⏎)
expect(config.§c).toBe('§V')
assert settings.§n == "§V"
§N=${§N:-§V}
§N=§V npm run dev
echo "§N=§V" >> .env
sed -i 's|^§N=.*|§N=§V|' .env
curl -X POST -d '{"user":"ann","§c":"§V"}' https://api.acme.io/login
"§c": {⏎  "value": "§V"⏎}
fly secrets set LOG=1 §N=§V
"""

_BARE = """
try §V instead
Error: Incorrect API key provided: §V.
1. §V⏎2. (none)
$ pbpaste⏎§V
$ cat token.txt⏎§V
x = f('§V')
["§V", "eu"]
<code>§V</code>
// §V
see (§V) above
"note": "was §V before"
echo §V | acme login --stdin
assert_eq!(parse("§V"), Ok(1));
ok - authenticated with §V in 12 ms
- [ ] rotate §V
key,§V,2026
git log -S'§V' --oneline
"""

_BEARER = """
curl -H "Authorization: Bearer §V" https://api.acme.io/v1/me
GET /v1/me HTTP/1.1⏎Host: api.acme.io⏎Authorization: Bearer §V⏎Accept: */*
> authorization: Bearer §V
fetch(url, { headers: { Authorization: 'Bearer §V' } })
requests.get(url, headers={"Authorization": "Bearer §V"})
{"name": "Authorization", "value": "Bearer §V"}
req.Header.Set("Authorization", "Bearer §V")
xhr.setRequestHeader('Authorization', 'Bearer ' + '§V')
metadata=[('authorization', 'Bearer §V')]
proxy_set_header Authorization "Bearer §V";
http GET api.acme.io/me "Authorization:Bearer §V"
Invoke-RestMethod -Uri $u -Headers @{ Authorization = "Bearer §V" }
{"mcpServers": {"acme": {"url": "https://mcp.acme.io", "headers": {"Authorization": "Bearer §V"}}}}
git -c http.extraheader="AUTHORIZATION: bearer §V" fetch
client.get(url).bearer_auth("§V").send()
curl -H "Authorization: token §V" https://api.acme.io
curl --header "PRIVATE-TOKEN: §V" https://git.acme.io/api/v4
//npm.acme.io/:_authToken=§V
[pypi]⏎username = __token__⏎password = §V
Set-Cookie: session=§V; Path=/; HttpOnly
Cookie: theme=dark; session_token=§V
"""

_PASSWORD = """
machine git.acme.io login ann password §V
machine git.acme.io⏎  login ann⏎  password §V
db.acme.io:5432:shop:ann:§V
sshpass -p '§V' ssh ann@10.0.0.4
mysql -u root -p'§V' shop
mysqldump --user=root --password=§V shop > a.sql
PGPASSWORD='§V' psql -h db.acme.io -U ann shop
redis-cli -h cache.acme.io -a '§V' ping
CREATE USER ann WITH PASSWORD '§V';
ALTER ROLE ann PASSWORD '§V';
CREATE USER 'ann'@'%' IDENTIFIED BY '§V';
docker login -u ann -p '§V' registry.acme.io
echo '§V' | docker login -u ann --password-stdin
echo '§V' | sudo -S systemctl restart api
echo "ann:§V" | sudo chpasswd
curl -u 'ann:§V' https://api.acme.io/v1
wget --user=ann --password='§V' https://acme.io/a
$p = ConvertTo-SecureString "§V" -AsPlainText -Force
net use Z: \\\\srv\\share §V /user:ann
htpasswd -b .htpasswd ann '§V'
openssl rsa -in a.pem -passin pass:§V
keytool -list -keystore a.jks -storepass '§V'
requests.get(url, auth=("ann", "§V"))
HTTPBasicAuth('ann', '§V')
smtp.login("ann@acme.io", "§V")
page.fill('#password', '§V')
cy.get('input[name=password]').type('§V')
driver.find_element(By.ID, "password").send_keys("§V")
expect "assword:"⏎send "§V\\r"
username: ann⏎pass: §V
log in as ann / password §V
Password for user postgres: §V
user ann, pw §V
gpg --batch --passphrase '§V' -d a.gpg
unzip -P '§V' a.zip
network={⏎  ssid="acme"⏎  psk="§V"⏎}
ldapsearch -D cn=admin -w '§V' -b dc=acme
az login --service-principal -u app -p '§V' --tenant t
mongosh --host db -u ann -p '§V'
sqlcmd -S db -U sa -P '§V' -Q "select 1"
smbclient //srv/share -U 'ann%§V'
xfreerdp /v:srv /u:ann /p:'§V'
<server><id>acme</id><username>ann</username><password>§V</password></server>
{"auths": {"registry.acme.io": {"auth": "§A"}}}
{"email": "ann@acme.io", "password": "§V"}
new SqlConnection("Server=db;Database=shop;Uid=sa;Pwd=§V;")
createConnection({ host: 'db', user: 'ann', password: '§V' })
DriverManager.getConnection(url, "ann", "§V")
"""

_LINES = """
$ cat key.pem⏎§V
§V
cat > ~/.ssh/id <<'EOF'⏎§V⏎EOF⏎chmod 600 ~/.ssh/id
{"type": "service_account", "private_key": "§E", "client_email": "a@b.iam.gserviceaccount.com"}
§N="§E"
§N="§V"
§n: |⏎§I
stringData:⏎  tls.key: |⏎§I
§n = \"\"\"§V\"\"\"
const §c = `§V`;
§n = <<EOF⏎§V⏎EOF
data:⏎  tls.key: §B
key := []byte("§E")
here is the key:⏎⏎§V⏎⏎thanks
"""


_LOWER, _HEX, _UPPER = string.ascii_lowercase, "0123456789abcdef", string.ascii_uppercase
_ALNUM = string.ascii_letters + string.digits
_ALPHABETS = {
    "a": _ALNUM, "b": _ALNUM + "+/", "w": _ALNUM + "-_", "h": _HEX, "H": _HEX.upper(), "d": string.digits, "l": _LOWER,
    "L": _LOWER + string.digits, "k": _UPPER + string.digits, "t": _UPPER + "234567", "q": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", "s": _ALNUM + "!#$%*+-=?@^_~",
}  # fmt: skip
_WORDS = [
    "Summer",
    "Winter",
    "Dragon",
    "Harbor",
    "Falcon",
    "Copper",
    "Monkey",
    "Berlin",
    "Tiger",
    "Orange",
    "Velvet",
    "Anchor",
    "Pepper",
    "Rocket",
]


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _run(rng: random.Random, alphabet: str, count: int) -> str:
    return rng.choice(_ALNUM if alphabet == "s" else _ALPHABETS[alphabet]) + "".join(
        rng.choices(_ALPHABETS[alphabet], k=count - 1)
    )


def _pem(rng: random.Random, label: str, lines: int) -> str:
    body = [_run(rng, "b", 64) for _ in range(lines)] + [_run(rng, "b", 30) + "=="]
    return "\n".join([f"-----BEGIN {label}-----", *body, f"-----END {label}-----"])


def _jwt(rng: random.Random) -> str:
    claims = {"sub": _run(rng, "d", 10), "iat": rng.randrange(10**9, 2 * 10**9), "role": rng.choice(_WORDS)}
    head, body = (_b64(json.dumps(part)).rstrip("=") for part in ({"alg": "HS256", "typ": "JWT"}, claims))
    return f"{head}.{body}.{_run(rng, 'w', 43)}"


_SPECIAL: dict[str, Callable[[random.Random], str]] = {
    "user": lambda r: r.choice(["ann", "app", "admin", "svc_api", "postgres", "deploy"]),
    "host": lambda r: r.choice(["db.acme.io", "10.0.3.7", "cache-1.prod.internal", "localhost", "mq.example.com"]),
    "human": lambda r: r.choice(_WORDS) + r.choice(["", "-", "_"]) + str(r.randrange(10, 9999)) + r.choice("!?$*"),
    "words": lambda r: "-".join(r.sample(_WORDS, 4)).lower(),
    "uuid": lambda r: "-".join(_run(r, "h", n) for n in (8, 4, 4, 4, 12)),
    "jwt": _jwt,
    "snowflake": lambda r: _b64(f"1{_run(r, 'd', 18)}").rstrip("="),
    "basic": lambda r: _b64(f"ann:{_run(r, 's', 16)}"),
}


def made(rng: random.Random, pattern: str) -> str:
    """The pattern with its `<…>` filled."""

    def one(match: re.Match[str]) -> str:
        token = match[1]
        if token in _SPECIAL:
            return _SPECIAL[token](rng)
        if token.startswith("pem:"):
            return _pem(rng, token.split(":")[1], int(token.split(":")[2]))
        return _run(rng, token[0], int(token[1:]))

    return re.sub(r"<([abwhHdlLktsq]\d+|user|host|human|words|uuid|jwt|snowflake|basic|pem:[A-Z ]+:\d+)>", one, pattern)


def _named(context: str, name: str) -> str:
    words = name.split()
    pascal = "".join(map(str.capitalize, words))
    forms = {
        "N": "_".join(words).upper(), "n": "_".join(words), "c": pascal[0].lower() + pascal[1:], "P": pascal,
        "k": "-".join(words), "d": ".".join(words), "p": name,
    }  # fmt: skip
    return re.sub("§([NncPkdp])", lambda match: forms[match[1]], context)


def _secret_parts(value: str) -> list[str]:
    parts = re.findall("«(.*?)»", value, re.DOTALL) or [value]
    return [line for part in parts for line in part.split("\n") if not line.startswith("-----")]


def _filled(context: str, name: str, value: str) -> tuple[str, list[str]]:
    """The context with name and value, and what of it is secret as it stands there."""
    text, parts, plain = (
        _named(context, name).replace("⏎", "\n"),
        _secret_parts(value),
        re.sub("[«»]", "", value),
    )
    for mark, whole in (("§B", plain), ("§A", "ann:" + plain)):
        if mark in text:
            return text.replace(mark, _b64(whole)), [_b64(whole)]
    if "§Q" in text:
        return text.replace("§Q", quote(plain, safe="")), [quote(part, safe="") for part in parts]
    indented = "\n".join("    " + line for line in plain.split("\n"))
    text = text.replace("§I", indented).replace("§E", plain.replace("\n", "\\n")).replace("§V", plain)
    return text, parts


def _each(prefix: str, suffix: str = "") -> Callable[[str], str]:
    def wrapped(text: str) -> str:
        return "\n".join(f"{prefix.replace('#', str(n))}{line}{suffix}" for n, line in enumerate(text.split("\n"), 7))

    return wrapped


def _result(text: str) -> str:
    return json.dumps({"type": "tool_result", "tool_use_id": "toolu_1", "content": text})


_WRAPS: tuple[Callable[[str], str], ...] = (
    str, _result, lambda text: json.dumps({"payload": _result(text)}), _each("+"), _each("-"), _each("     #→"),
    _each("deploy/notes:#:"), _each("2026-03-04T12:33:01.1234567Z "), _each("api-1  | "), _each("\x1b[32m", "\x1b[0m"),
    _each("> "), _each("        "), _each("", "\r"), lambda text: f"Sure, like this:\n\n```\n{text}\n```\nDone.",
    lambda text: repr({"stdout": text, "code": 0}),
)  # fmt: skip


def _contexts(where: str) -> list[str]:
    if where == "M":
        return _LINES.strip("\n").split("\n")
    if where == "B":
        return [line.replace("Bearer", "Basic") for line in _BEARER.strip().split("\n") if "Bearer " in line]
    more = {"S": _BARE, "T": _BEARER, "P": _PASSWORD, "N": ""}
    return [
        line for block in (_NAMED, *(more[mark] for mark in where)) for line in block.strip("\n").split("\n") if line
    ]


def _in_wrap(wrap: Callable[[str], str], parts: list[str]) -> tuple[str, ...]:
    """The parts, which no wrap escapes: that is told here rather than believed."""
    wrapped = wrap("\n".join(parts))
    assert all(part in wrapped for part in parts)
    return tuple(parts)


def _of_kind(row: str, count: int) -> Iterator[Case]:
    title, names, where, pattern = row.split("|", 3)
    rng = random.Random(title)
    pairs = list(itertools.product(_contexts(where), _WRAPS))
    rng.shuffle(pairs)
    for context, wrap in itertools.islice(itertools.cycle(pairs), count):
        text, parts = _filled(context, rng.choice(names.split(",")), made(rng, pattern))
        yield Case(title, context, wrap(text), _in_wrap(wrap, parts))


def blind_cases(step: int = 1) -> Iterator[Case]:
    """1,000 cases a kind, or every `step`-th of them; the same every time."""
    every = (case for row in _KINDS.strip().split("\n") for case in _of_kind(row, 1000))
    return itertools.islice(every, 0, None, step)
