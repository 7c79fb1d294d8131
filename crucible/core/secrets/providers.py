"""Tokens that tell by their own form whose they are: `ghp_…`, `sk-ant-…`, `AKIA…`.

A table of data, in the manner of gitleaks: name, literals, pattern.  A token is found within a word too, so patterns begin
with no boundary; an upper bound of a repetition keeps a line of megabytes from being read once for each literal in it.
"""

from __future__ import annotations

from crucible.core.secrets.rule import SecretRule, read_table
from crucible.core.secrets.secret_values import is_chance, is_dummy, is_varied
from crucible.core.secrets.token_prefixes import is_random

_SIGNS = "abcdefghijklmnopqrtuvwxyz0123456789_-"
_OKTA = " ".join([*(f"00{sign}" for sign in _SIGNS), *(f"00s{sign}" for sign in _SIGNS + "s")])
"""How a token of Okta begins; `00` alone would stand in each `0.00s` of a test."""


_TOKENS = r"""
1password-secret-key | a3- | A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}
1password-token | ops_eyj | ops_eyJ[A-Za-z0-9+/_-]{60,4000}={0,3}
adobe-client-secret | p8e- p8e_ | (?<![A-Za-z0-9])p8e[-_][A-Za-z0-9_-]{32}
age-secret-key | age-secret-key-1 | AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{50,58}
alibaba-access-key-id | ltai | LTAI[A-Za-z0-9]{12,26}(?![A-Za-z0-9])
anthropic-key | sk-ant- | sk-ant-[A-Za-z0-9_-]{20,200}
apify-token | apify_api_ | apify_api_[A-Za-z0-9-]{30,50}
artifactory-key | akcp cmvmd | (?<![A-Za-z0-9])(?:AKCp[A-Za-z0-9]{60,80}|cmVmd[A-Za-z0-9]{55,64})
asana-token | /1 | [012]/\d{13,20}(?:/\d{13,20})?:[0-9a-f]{32}
atlassian-token | atatt atctt atstt | AT[ACS]TT3[A-Za-z0-9_=-]{50,400}
aws-access-key-id | akia asia abia acca a3t | (?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}(?![A-Za-z0-9])
aws-secret-key | akia asia | (?:AKIA|ASIA)[A-Z0-9]{16}[^A-Za-z0-9+/=][\s\S]{0,160}?(?<![A-Za-z0-9+/=])(?P<s>(?=[A-Za-z+/]*\d)(?=[a-z0-9+/]*[A-Z])(?=[A-Z0-9+/]*[a-z])[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])
aws-bedrock-key | absk bedrock-api-key- | (?:ABSK[A-Za-z0-9+/]{100,280}={0,2}|bedrock-api-key-[A-Za-z0-9+/=_-]{20,2000})
aws-mws-token | amzn.mws. | amzn\.mws\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}
aws-session-token | fwogzxivyxdz iqojb3jpz2lux2vj fqogzxivyxdz | (?:FwoGZXIvYXdz|IQoJb3JpZ2luX2Vj|FQoGZXIvYXdz)[A-Za-z0-9+/=%]{40,4000}
azure-client-secret <8 | q~ | [A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}
azure-devops-token <76 | azdo | [A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}
azure-key <85 | a== q== g== w== | (?<![A-Za-z0-9+/=_-])(?<!sha512:)(?<!sha512 )(?<!SHA512 )(?P<s>[A-Za-z0-9+/]{85}[AQgw])==(?![A-Za-z0-9=])
azure-marked-key <80 | +ast acdb +aba +asb +aeh aiot azfu azse +acr jqqj9 | (?:[A-Za-z0-9+/]{76}(?:\+ASt|ACDb|\+ABa|\+AMC)[A-Za-z0-9+/]{5}[AQgw]==|[A-Za-z0-9+/]{33}(?:\+ASb|\+AEh|AIoT|\+ARm)[A-Za-z0-9+/]{5}[A-P]=|[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{5}[AQgw]==|[A-Za-z0-9]{42}AzSe[A-Za-z0-9]{6}|[A-Za-z0-9+/]{42}\+ACR[A-Za-z0-9+/]{6}|[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{27})
bitbucket-token | atbb bbdc- | (?<![A-Za-z0-9])(?:ATBB[A-Za-z0-9]{24,40}(?:[A-F0-9]{8})?|BBDC-[A-Za-z0-9+/=]{32,100})
braintree-token | access_token$ | access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}
buildkite-token | bkua_ bkaa_ bkct_ bkpt_ bkps_ bkpat_ | bk(?:ua|aa|aj|ar|ct|pt|ps|pat)_[A-Za-z0-9_-]{32,340}
cerebras-key | csk- | (?<![A-Za-z0-9])csk-[a-z0-9]{40,60}
circleci-token | ccipat_ ccipra_ | CCIP(?:AT|RA)_[A-Za-z0-9]{18,26}_[0-9a-fA-F]{40}
clojars-token | clojars_ | CLOJARS_[0-9a-zA-Z]{60}
cloudflare-token | cfat_ cfut_ cfk_ v1.0- | (?:cf[aut]{2}_[A-Za-z0-9_-]{40,60}|cfk_[A-Za-z0-9_-]{40,60}|v1\.0-[A-Za-z0-9-]{100,200})
contentful-token | cfpat- | CFPAT-[A-Za-z0-9_-]{40,50}
crates-io-token | cio | (?<![A-Za-z0-9/])(?<![A-Za-z0-9/]\+)cio[A-Za-z0-9]{32}(?![A-Za-z0-9])
databricks-token | dapi | dapi[0-9a-f]{32}(?:-\d)?
deno-token | ddp_ ddo_ ddw_ | dd[opw]_[A-Za-z0-9]{34,40}
digitalocean-token | dop_v1_ doo_v1_ dor_v1_ | do[opr]_v1_[0-9a-f]{40,64}
docker-token | dckr_pat_ dckr_oat_ swmtkn-1- swmkey-1- | (?:dckr_[po]at_[A-Za-z0-9_-]{20,60}|SWMTKN-1-[a-z0-9]{40,60}-[a-z0-9]{20,30}|SWMKEY-1-[A-Za-z0-9+/]{40,50})
doppler-token | dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. | dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}
dropbox-token | sl. | sl\.(?:u\.)?[A-Za-z0-9_-]{100,1400}
duffel-token | duffel_ | (?<![A-Za-z0-9])(?:duffel_(?:test|live)_[A-Za-z0-9_=-]{40,50})
dynatrace-token | dt0c01. dt0s0 | dt0[a-z]\d\d\.[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{60,64}
easypost-token | ezak eztk | (?<![A-Za-z0-9])EZ[AT]K[A-Za-z0-9]{54}
elastic-key | essu_ | essu_[A-Za-z0-9_-]{40,200}={0,2}
facebook-token | eaa | (?<![A-Za-z0-9/_])(?<![A-Za-z0-9/][+-])EAA(?:C[A-Za-z0-9]{40,1000}|[A-Za-z0-9]{60,1000})(?![A-Za-z0-9+/=])
flutterwave-key | flwseck | FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,40}(?:-X)?
figma-token | figd_ figu_ figo_ figp_ | fig[duop]h?_[A-Za-z0-9_=-]{36,60}
fireworks-key | fw_ | (?<![A-Za-z0-9])fw_[A-Za-z0-9]{22,40}(?![A-Za-z0-9])
fly-token | fm2_ fm1r_ fm1a_ fo1_ flyv1 | (?:fm(?:2|1[ra])_[A-Za-z0-9+/=]{40,2000}|fo1_[A-Za-z0-9_-]{40,50}|FlyV1 fm\d_[A-Za-z0-9+/=,_]{40,2000})
frameio-token | fio-u- | fio-u-[A-Za-z0-9_=-]{60,70}
gcp-api-key | aiza | AIza[A-Za-z0-9_-]{35,39}
gcp-oauth-secret | gocspx- | GOCSPX-[A-Za-z0-9_-]{20,40}
gcp-oauth-token | ya29. 1//0 | (?:ya29\.[A-Za-z0-9_.-]{20,2000}|1//0[A-Za-z0-9_-]{30,120})
gemini-key | aq.ab | AQ\.Ab[A-Za-z0-9_-]{40,80}
github-token | ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ | (?:gh[pousr]_[A-Za-z0-9_]{30,255}|github_pat_[A-Za-z0-9_]{40,255})
gitlab-token | glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- glrtr- gr1348941 _gitlab_session= glwt- | (?:gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct|rtr|wt)-[A-Za-z0-9_.=-]{18,300}|GR1348941[A-Za-z0-9_-]{18,24}|_gitlab_session=(?P<s>[0-9a-z]{32}))
gocardless-token | live_ sandbox_ | (?<![A-Za-z0-9])(?:live|sandbox)_[A-Za-z0-9_=-]{40,60}
google-captcha-secret | 6l | 6L[cdef][A-Za-z0-9_-]{5}AAAAA[A-Za-z0-9_-]{27}
grafana-token | glc_ glsa_ eyjrijoi | (?:glc_[A-Za-z0-9+/]{32,400}={0,2}|glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|eyJrIjoi[A-Za-z0-9]{60,400}={0,2})
groq-key | gsk_ | gsk_[A-Za-z0-9]{40,60}
harness-token | pat. sat. | [ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}
heroku-key | hrku- | HRKU-(?:AA[A-Za-z0-9_-]{50,70}|[0-9a-f-]{36})
hubspot-token | pat-na pat-eu na1- eu1- | (?:pat-)?(?:na|eu)\d-[0-9a-zA-Z]{8}(?:-[0-9a-zA-Z]{4}){3}-[0-9a-zA-Z]{12}
huggingface-token | hf_ api_org_ | (?<![A-Za-z0-9_-]{24})(?:hf_[A-Za-z0-9]{30,45}|api_org_[A-Za-z0-9]{30,40})
infracost-token | ico- | (?<![A-Za-z0-9])ico-[A-Za-z0-9]{32}
intra42-secret | s-s4t2 | (?<![A-Za-z0-9])(?:s-s4t2(?:ud|af)-[0-9a-f]{64})
jfrog-token | eyj2zxii | eyJ2ZXIi[A-Za-z0-9_-]{60,2000}
langsmith-key | lsv2_ ls__ | (?:lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|ls__[0-9a-f]{32})
langfuse-key | sk-lf- | sk-lf-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}
launchdarkly-key | sdk- api- mob- | (?:sdk|api|mob)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}
linear-token | lin_api_ lin_oauth_ | lin_(?:api|oauth)_[A-Za-z0-9]{32,80}
notion-token | ntn_ secret_ | (?<![A-Za-z0-9_-]{24})(?:ntn_[A-Za-z0-9]{40,60}|secret_(?![0-9a-f]{40,50}(?![A-Za-z0-9]))[A-Za-z0-9]{40,50})
mailchimp-key <33 | -us1 -us2 -us3 -us4 -us5 -us6 -us7 -us8 -us9 | (?<![0-9a-f])[0-9a-f]{32}-us\d{1,2}(?!\d)
mailgun-key | key- pubkey- | (?<![A-Za-z0-9_])(?<![A-Za-z0-9]-)(?:pub)?key-[0-9a-f]{32}(?![0-9A-Za-z])
mapbox-token | sk.eyj tk.eyj pk.eyj | [spt]k\.eyJ[A-Za-z0-9_-]{40,200}\.[A-Za-z0-9_-]{20,40}
mercadopago-token | app_usr- | APP_USR-\d{10,20}-\d{6}-[0-9a-f]{32}-\d{5,12}
netlify-token | nfp_ nfc_ nfu_ | nf[pcu]_[A-Za-z0-9_]{36,60}
new-relic-key | nrak- nrii- nriq- nraa- nrjs- nrbr- | (?:NR(?:AK|AA)-[A-Z0-9]{20,40}|NRI[IQ]-[A-Za-z0-9_-]{20,40}|NR(?:JS|BR)-[0-9a-f]{19})
new-relic-license <48 | nral -nrma | (?:[0-9a-fA-F]{36}NRAL|(?:eu01xx)?[0-9a-f]{26,32}FFFFNRAL|(?:AA|eu01xx)[0-9a-f]{36,40}-NRMA)
npm-token | npm_ | (?<![A-Za-z0-9_-]{24})npm_[A-Za-z0-9]{30,40}
nuget-key | oy2 | oy2[a-z0-9]{43}
nvidia-key | nvapi- | nvapi-[A-Za-z0-9_-]{50,80}
octopus-key | api- | API-[A-Z0-9]{26,32}(?![A-Za-z0-9])
okta-token | @OKTA@ | (?<![A-Za-z0-9/+])00(?=[A-Za-z_-]{0,39}\d)(?=[a-z0-9_-]{0,39}[A-Z])(?=[A-Z0-9_-]{0,39}[a-z])[A-Za-z0-9_-]{40}(?![A-Za-z0-9_/+=-])
openai-key | sk- sess- | (?:sk-(?:proj|svcacct|admin|None|service)-[A-Za-z0-9_-]{20,250}|(?:sk|sess)-(?=[A-Za-z]{0,63}\d)[A-Za-z0-9]{20,64}(?![A-Za-z0-9]))
openai-key <120 | t3blbkfj | sk-[A-Za-z0-9_-]{10,100}T3BlbkFJ[A-Za-z0-9_-]{10,150}
openrouter-key | sk-or- | sk-or-(?:v\d-)?[A-Za-z0-9]{32,80}
openshift-token | sha256~ | sha256~[A-Za-z0-9_-]{43}
paystack-key | sk_live_ sk_test_ | (?<![A-Za-z0-9])(?:sk_(?:live|test)_[0-9a-f]{40})
perplexity-key | pplx- | pplx-[A-Za-z0-9]{40,60}
pinecone-key | pcsk_ | pcsk_[A-Za-z0-9_]{50,90}
plaid-token | access-sandbox- access-development- access-production- | access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}
planetscale-token | pscale_ | (?<![A-Za-z0-9])(?:pscale_(?:pw|tkn|oauth)_[A-Za-z0-9_.=-]{30,64})
posthog-key | phx_ phs_ | (?<![A-Za-z0-9])ph[xs]_[A-Za-z0-9_]{30,60}
postman-key | pmak- pmat- | (?:PMAK-[0-9a-zA-Z-]{59}|PMAT-[A-Z0-9]{26})
prefect-token | pnu_ pnb_ | pn[ub]_[A-Za-z0-9]{36}
pulumi-token | pul- | (?<![A-Za-z0-9])pul-[0-9a-z]{40}
pypi-token | pypi-ag | pypi-Ag[A-Za-z0-9_-]{40,1000}
rails-master-key | rails_master_key= | RAILS_MASTER_KEY=(?P<s>[0-9a-f]{32})
razorpay-key | rzp_live_ rzp_test_ | rzp_(?:live|test)_[A-Za-z0-9]{14}
readme-token | rdme_ | rdme_[a-z0-9]{60,80}
render-key | rnd_ | (?<![A-Za-z0-9])rnd_[A-Za-z0-9]{24,40}(?![A-Za-z0-9])
replicate-token | r8_ | (?<![A-Za-z0-9])r8_[A-Za-z0-9_-]{32,45}(?![A-Za-z0-9])
resend-key | re_ | (?<![A-Za-z0-9])re_(?=[A-Za-z]{0,7}\d|[A-Za-z0-9]{6,10}_[A-Za-z]{0,23}\d)[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,30}(?![A-Za-z0-9_])
rubygems-key | rubygems_ | rubygems_[0-9a-zA-Z]{48}
salesforce-token | 00d | 00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{60,260}
sendgrid-key | sg. | SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}
sendinblue-key | xkeysib- xsmtpsib- | x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}
sentry-token | sntrys_ sntryu_ sntrya_ sntryi_ | (?:sntrys_eyJ[A-Za-z0-9+/=]{30,400}(?:_[A-Za-z0-9+/]{30,50})?|sntry[uai]_[0-9a-f]{40,70})
shippo-token | shippo_ | (?<![A-Za-z0-9])shippo_(?:live|test)_[0-9a-fA-F]{40}
shopify-token | shpat_ shpca_ shppa_ shpss_ shptka_ shpua_ shpit_ | shp(?:at|ca|pa|ss|tka|ua|it)_[0-9a-fA-F]{32}
slack-token | xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe xoxc- xoxd- xapp- xwfp- | (?:xox[abopsrced](?:\.xox[bp])?-[A-Za-z0-9%/+_-]{10,400}=*|xapp-\d-[A-Za-z0-9]+-\d+-[A-Za-z0-9]{20,100}|xwfp-[A-Za-z0-9-]{20,200})
slack-webhook | hooks.slack.com hooks.slack-gov.com | hooks\.slack(?:-gov)?\.com(?:\\?/|%2F)(?:services|workflows|triggers)(?:\\?/|%2F)(?P<s>[A-Za-z0-9_+%\\/-]{20,110})
tableau-token <23 | ==: | [A-Za-z0-9+/]{22}==:[A-Za-z0-9]{32}(?![A-Za-z0-9])
tines-webhook | .tines.com/webhook/ | \.tines\.com/webhook/(?P<s>[0-9a-z]{32}/[0-9a-z]{32})
discord-webhook | discord.com discordapp.com | discord(?:app)?\.com(?:\\?/|%2F)api(?:(?:\\?/|%2F)v\d+)?(?:\\?/|%2F)webhooks(?:\\?/|%2F)\d{15,22}(?:\\?/|%2F)(?P<s>[A-Za-z0-9_-]{40,90})
teams-webhook | webhook.office.com/ outlook.office.com/webhook/ | (?:outlook\.office\.com/webhook/|webhook\.office\.com/webhookb2/)(?P<s>[A-Za-z0-9@/_-]{60,250})
google-chat-webhook | chat.googleapis.com/ | chat\.googleapis\.com/v1/spaces/[\w-]+/messages\?(?P<s>[\w=&%.-]{30,250})
zapier-webhook | hooks.zapier.com/ | hooks\.zapier\.com/hooks/catch/(?P<s>\d+/[a-z0-9]{5,12}|[A-Za-z0-9/]{16})
snyk-token | snyk_ | snyk_(?:uat|sat)\.[A-Za-z0-9._-]{30,300}
sonar-token | squ_ sqp_ sqa_ sqco_ | (?<![A-Za-z0-9])(?:sq[upa]_[0-9a-f]{40}|sqco_[A-Za-z0-9]{50,64})
sourcegraph-token | sgp_ slk_ | (?:sgp_(?:(?:[0-9a-f]{16}|local)_(?:local_)?)?[0-9a-fA-F]{40}|slk_[0-9a-f]{64})
square-token | eaaa sq0atp- sq0csp- sq0idb- sq0 | (?:(?<![A-Za-z0-9/])(?<![A-Za-z0-9/][+-])EAAA(?!A)[A-Za-z0-9_=-]{22,64}|sq0[a-z]{3}-[A-Za-z0-9_-]{22,50})
stripe-key | sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ whsec_ | (?:[sr]k_(?:live|test|prod)_(?:-?[A-Za-z0-9_]){10,250}|whsec_[A-Za-z0-9+/=]{24,80})
secret-key-token | sk_ | (?<![A-Za-z0-9])sk_(?:[0-9a-f]{32,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}_\d{6}_[0-9a-f]{32}|(?:test_)?(?:10|[1235])x[123]_[0-9a-fA-F]{64}|pr_[A-Za-z0-9]{1,64}_[0-9a-f]{40})(?![A-Za-z0-9_])
supabase-key | sb_secret_ sbp_ | (?:sb_secret_[A-Za-z0-9_-]{20,60}|sbp_(?:v0_)?[0-9a-zA-Z]{36,50})
tailscale-key | tskey- | tskey-(?:api|auth|client|scim|webhook)?-?[A-Za-z0-9]{6,20}-[A-Za-z0-9]{16,50}
tavily-key | tvly- | tvly-(?:dev-|prod-)?[A-Za-z0-9_-]{20,50}
telegram-token <12 | :aa %3aaa | (?<!\d)\d{7,11}(?::|%3A)AA[A-Za-z0-9_-]{31,36}
tencent-secret-id | akid | AKID[A-Za-z0-9]{28,40}(?![A-Za-z0-9])
terraform-token <15 | .atlasv1. | [A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,80}
together-key | tgp_v1_ | tgp_v1_[A-Za-z0-9_-]{40,50}
twitter-bearer - | aaaaaaaaaaaaaaaaaaa | (?<![A-Za-z0-9/])(?<![A-Za-z0-9/]\+)A{18,24}(?!A)[A-Za-z0-9%]{60,120}(?![A-Za-z0-9/+])
typeform-token | tfp_ | (?<![A-Za-z0-9])tfp_[A-Za-z0-9_.=-]{40,65}
vault-token | hvs. hvb. hvr. | hv[sbr]\.[A-Za-z0-9_-]{20,300}
vercel-token | vck_ vcp_ vca_ vcr_ vci_ vercel_blob_rw_ | (?:vc[kpari]_[A-Za-z0-9_-]{24,80}|vercel_blob_rw_[A-Za-z0-9_]{30,80})
volcengine-key | aklt | AKLT[A-Za-z0-9+/=_-]{30,60}
wandb-key | wandb_v1_ | wandb_v1_[A-Za-z0-9_]{60,90}
woocommerce-key | ck_ cs_ | (?<![A-Za-z0-9])c[ks]_[0-9a-f]{40}
xai-key | xai- | xai-[A-Za-z0-9_-]{60,120}
xendit-key | xnd_ | (?<![A-Za-z0-9])(?:xnd_(?:production|development)_[A-Za-z0-9]{40,80})
yandex-key | t1. aqvn ajeg ycaj yc | (?:t1\.[A-Za-z0-9_-]{20,}={0,2}\.[A-Za-z0-9_-]{80,100}={0,2}|AQVN[A-Za-z0-9_-]{30,60}|(?<![A-Za-z0-9/_])(?<![A-Za-z0-9/][+-])YC[A-Za-z0-9_-]{38}(?![A-Za-z0-9+/_-]))
yandex-oauth | y0_ | (?<![A-Za-z0-9])y[0-3]_[A-Za-z0-9_-]{50,70}
zuplo-key | zpka_ | zpka_[a-z0-9]{32}_[0-9a-f]{8}
password-hash | $apr1$ $2a$ $2b$ $2y$ $1$ $5$ $6$ $y$ $argon2 {sha} {ssha} $scrypt$ $pbkdf2 | (?:\$(?:apr1|1|5|6|y)\$(?:rounds=\d+\$)?[A-Za-z0-9./]{1,40}\$(?:[A-Za-z0-9./]{1,40}\$)?[A-Za-z0-9./]{20,100}|\$2[aby]\$\d\d\$[A-Za-z0-9./]{53}|\$argon2(?:id?|d)\$[A-Za-z0-9$=,+/]{40,250}|\{S?SHA\}[A-Za-z0-9+/]{20,80}={0,2}|\$(?:scrypt|pbkdf2[a-z0-9-]*)\$[A-Za-z0-9$=,+/.]{40,250})
django-password-hash | pbkdf2_sha | pbkdf2_sha(?:1|256|512)\$\d{3,8}\$[A-Za-z0-9]{6,40}\$[A-Za-z0-9+/]{20,100}={0,2}
"""


def provider_rules() -> list[SecretRule]:
    """The rules of all tokens that tell by themselves."""
    return list(read_table(_TOKENS.replace("@OKTA@", _OKTA), is_varied))


_AROUND = (
    r"""[A-Za-z][\w.-]{0,60}\\{0,8}["'`]?[\])]?(?:[ \t]{1,4}(?:(?i:api|access|secret|auth|app|private|personal|account)[ _-]?){0,2}"""
    r"""(?i:key|token|secret|login|pat|sid)s?(?:[ \t](?:is|was))?[ \t]{1,4}|[ \t]{0,8}(?:(?i:api[ _-]?)?(?i:key|token|secret))?[ \t]{0,4}"""
    r"""(?:=>|:{1,2}=?|={1,2}|,|->)[ \t]{0,8})\\{0,8}["'`]?(?P<s>{})(?![A-Za-z0-9_/+=-])"""
)

_UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

_SERVICES = r"""
abuseipdb-key | abuseipdb | [0-9a-f]{80}
algolia-key | algolia | [0-9a-f]{32}
amplitude-key | amplitude | [0-9a-f]{32}
assemblyai-key | assemblyai | [0-9a-f]{32}
azure-key | azure | (?:[0-9a-f]{32}|[A-Za-z0-9]{84}|[A-Za-z0-9+/]{86}==)
bitly-token | bitly | [0-9a-f]{40}
bugsnag-key | bugsnag | [0-9a-f]{32}
clarifai-key | clarifai | [0-9a-f]{32}
cloudflare-key | cloudflare | (?:[0-9a-f]{37}|[A-Za-z0-9_-]{40})
cloudinary-secret | cloudinary | [A-Za-z0-9_-]{27}
codecov-token | codecov | @UUID@
cohere-key | cohere | [A-Za-z0-9]{40}
coveralls-token | coveralls | [A-Za-z0-9]{33,37}
datadog-key | datadog dd_a dd-a | [0-9a-f]{32}(?:[0-9a-f]{8})?
deepgram-key | deepgram | [0-9a-f]{40}
discord-secret | discord | [A-Za-z0-9_-]{32}
elevenlabs-key | elevenlabs | [0-9a-f]{32}
etherscan-key | etherscan bscscan polygonscan | [A-Z0-9]{34}
fastly-token | fastly | [A-Za-z0-9_-]{32}
heroku-key | heroku | @UUID@
infura-key | infura | [0-9a-f]{32}
linear-secret | linear | [0-9a-f]{32}
linode-token | linode | [0-9a-f]{64}
logdna-key | logdna mezmo | [0-9a-f]{32}
loggly-token | loggly | @UUID@
mailjet-key | mailjet | [0-9a-f]{32}
mailtrap-key | mailtrap | [0-9a-f]{32}
meraki-key | meraki | [0-9a-f]{40}
mistral-key | mistral | [A-Za-z0-9]{32}
mixpanel-secret | mixpanel | [0-9a-f]{32}
okta-token | okta | [A-Za-z0-9_-]{42}
openweather-key | openweather | [0-9a-f]{32}
opsgenie-key | opsgenie | @UUID@
pagerduty-key | pagerduty | (?:[A-Za-z0-9_+-]{20}|[0-9a-f]{32})
pipedrive-token | pipedrive | [0-9a-f]{40}
plaid-secret | plaid | [0-9a-f]{30}
postmark-token | postmark | @UUID@
rapidapi-key | rapidapi | [A-Za-z0-9]{50}
rollbar-token | rollbar | [0-9a-f]{32}
sentry-token | sentry | [0-9a-f]{64}
shodan-key | shodan | [A-Za-z0-9]{32}
snyk-token | snyk | @UUID@
spotify-secret | spotify | [0-9a-f]{32}
sumologic-key | sumologic sumo_ | [A-Za-z0-9]{64}
todoist-token | todoist | [0-9a-f]{40}
trello-key | trello | (?:[0-9a-f]{64}|[0-9a-f]{32})
twilio-token | twilio | [0-9a-f]{32}
vercel-token | vercel | [A-Za-z0-9]{24}
virustotal-key | virustotal | [0-9a-f]{64}
wandb-key | wandb weights | [0-9a-f]{40}
zendesk-token | zendesk | [A-Za-z0-9]{40}
"""


def service_rules() -> list[SecretRule]:
    """The rules of all services."""
    return list(read_table(_SERVICES.replace("@UUID@", _UUID), _accept, _AROUND))


def _accept(value: str) -> bool:
    return (is_chance(value) or is_random(value)) and not is_dummy(value)
