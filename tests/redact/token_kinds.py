"""Kinds of tokens as public scanners define them, and the contexts in which people leave them.

Out: `cases()`, one text for each kind and context. Always: the same values on every run; none of them was ever issued.

A format reads as it prints; `{a20}` stands for twenty characters of the alphabet `a`. A kind whose format holds a mark of its issuer
must be found bare, in running text; the others are found by what is said about them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

_LOWER, _UPPER, _DIGITS = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
_ALPHABETS = {
    "a": _LOWER + _DIGITS,
    "A": _UPPER + _DIGITS,
    "w": _LOWER + _UPPER + _DIGITS,
    "d": _LOWER + _UPPER + _DIGITS + "_-",
    "s": _LOWER + _UPPER + _DIGITS + "+/",
    "l": _LOWER,
    "L": _LOWER + _UPPER,
    "h": _DIGITS + "abcdef",
    "H": _DIGITS + "ABCDEF",
    "n": _DIGITS,
    "B": _UPPER + "234567",
}
_PLACE = re.compile(r"\{([a-zA-Z])(\d+)\}")
_UUID = "{h8}-{h4}-4{h3}-a{h3}-{h12}"

# Service, what the token is called, format. Marked by the issuer:
_MARKED = """
1password secret_key A3-{A6}-{A11}-{A5}-{A5}-{A5}
1password service_account_token ops_eyJ{w250}
adobe client_secret p8e-{a32}
age secret_key AGE-SECRET-KEY-1{A58}
airtable personal_token pat{w14}.{h64}
alibaba access_key_id LTAI{w20}
anthropic api_key sk-ant-api03-{d93}AA
anthropic admin_key sk-ant-admin01-{d93}AA
apify api_token apify_api_{w36}
artifactory api_key AKCp{w69}
artifactory reference_token cmVmdGtu{w56}
asaas api_key $aact_{w80}
atlassian api_token ATATT3{d186}
atlassian bitbucket_token ATBB{w32}
authress service_key sc_{a12}.{a5}.acc-{a14}.{d60}
aws access_key_id AKIA{B16}
aws session_key_id ASIA{B16}
aws bedrock_key ABSK{s120}
azure client_secret {w3}8Q~{d34}
azure devops_token {w76}AZDO{w4}
azure storage_key {s86}==
beamer api_token b_{d44}
brevo api_key xkeysib-{h64}-{w16}
buildkite token bkua_{h40}
cerebras api_key csk-{a48}
circleci token CCIPAT_{w22}_{h40}
clickhouse secret_key 4b1d{w38}
clojars token CLOJARS_{a60}
cloudflare origin_ca_key v1.0-{h24}-{h146}
cockroach api_key CCDB1_{w22}_{w40}
contentful personal_token CFPAT-{d43}
databricks token dapi{h32}
defined_networking token dnkey-{A26}-{A52}
deno deploy_token ddp_{w36}
digitalocean token dop_v1_{h64}
digitalocean oauth_token doo_v1_{h64}
digitalocean refresh_token dor_v1_{h64}
discord bot_token M{w23}.G{w5}.{d38}
docker token dckr_pat_{d27}
doppler token dp.pt.{w43}
dropbox short_token sl.{d135}
dropbox long_token {a11}AAAAAAAAAA{d43}
duffel token duffel_live_{d43}
dynatrace token dt0c01.{A24}.{A64}
easypost api_key EZAK{w54}
easypost test_key EZTK{w54}
elevenlabs api_key sk_{h48}
facebook page_token EAAC{w140}
facebook app_token {n16}|{d27}
figma token figd_{d40}
finch token finch-token-production-{w20}
firebase server_key AAAA{d7}:APA91b{d134}
firecrawl api_key fc-{h32}
fireworks api_key fw_{w24}
flutterwave secret_key FLWSECK_TEST-{h32}-X
flutterwave public_key FLWPUBK_TEST-{h32}-X
fly access_token fo1_{d43}
fly machine_token fm2_{s120}
frameio token fio-u-{d64}
github token ghp_{w36}
github oauth_token gho_{w36}
github app_token ghu_{w36}
github server_token ghs_{w36}
github refresh_token ghr_{w76}
github fine_token github_pat_{w22}_{w59}
gitlab token glpat-{d20}
gitlab routable_token glpat-{d27}.{a2}{a7}
gitlab deploy_token gldt-{d20}
gitlab job_token glcbt-64_{d20}
gitlab feature_token glffct-{d20}
gitlab feed_token glft-{d20}
gitlab mail_token glimt-{d25}
gitlab agent_token glagent-{d50}
gitlab oauth_secret gloas-{d64}
gitlab trigger_token glptt-{h40}
gitlab runner_token glrt-{d20}
gitlab registration_token GR1348941{d20}
gitlab scim_token glsoat-{d20}
gocardless token live_{d40}
google api_key AIza{d35}
google oauth_token ya29.{d80}
google client_secret GOCSPX-{d28}
grafana api_key eyJrIjoi{w90}
grafana cloud_token glc_{s60}
grafana service_token glsa_{w32}_{h8}
groq api_key gsk_{w52}
harness token pat.{d22}.{h24}.{w20}
hashicorp terraform_token {w14}.atlasv1.{d64}
hashicorp vault_token hvs.{d95}
hashicorp vault_batch_token hvb.{d150}
heroku token HRKU-AA{d58}
huggingface token hf_{L34}
huggingface org_token api_org_{L34}
infracost api_key ico-{w32}
intra42 secret s-s4t2ud-{h64}
jira token ATCTT3{d180}
jwt token eyJhbGciOiJIUzI1NiJ9.eyJ{w40}.{d43}
langchain token lsv2_pt_{h32}_{h10}
langfuse secret_key sk-lf-{u}
linear api_key lin_api_{w40}
lob api_key live_{h35}
lob public_key test_pub_{h31}
mailchimp api_key {h32}-us14
mailgun private_key key-{h32}
mailgun public_key pubkey-{h32}
mailgun signing_key {h32}-{h8}-{h8}
mapbox secret_token sk.eyJ{w60}.{d22}
maxmind license_key {w6}_{w29}_mmk
mergify key mergify_application_key_{w47}
mongodb service_secret mdb_sa_sk_{w40}
neon api_key napi_{a64}
netlify token nfp_{w40}
newrelic user_key NRAK-{A27}
newrelic insert_key NRII-{d32}
newrelic browser_key NRJS-{h19}
notion token ntn_{n11}{w35}
notion integration_secret secret_{w43}
npm token npm_{w36}
nvidia api_key nvapi-{d64}
octopus api_key API-{A26}
okta token 00{d40}
openai api_key sk-{w20}T3BlbkFJ{w20}
openai project_key sk-proj-{d74}T3BlbkFJ{d74}
openrouter api_key sk-or-v1-{h64}
openshift token sha256~{d43}
paddle api_key pdl_live_apikey_{a26}_{w22}_{w3}
paystack secret_key sk_live_{h40}
perplexity api_key pplx-{w48}
pinecone api_key pcsk_{w5}_{w60}
plaid access_token access-production-{u}
planetscale token pscale_tkn_{d43}
planetscale password pscale_pw_{d43}
planetscale oauth_token pscale_oauth_{d43}
posthog personal_key phx_{w43}
postman api_key PMAK-{h24}-{h34}
prefect api_key pnu_{w36}
pulumi token pul-{h40}
pypi token pypi-AgEIcHlwaS5vcmc{d90}
railway token railway_{w40}
razorpay key rzp_live_{w14}
readme token rdme_{a70}
render api_key rnd_{w32}
replicate token r8_{w37}
rubygems api_key rubygems_{h48}
scalingo token tk-us-{d48}
sendgrid api_key SG.{d22}.{d43}
sentry org_token sntrys_eyJpYXQiO{w80}_{w43}
sentry user_token sntryu_{h64}
settlemint token sm_pat_{w16}
shippo token shippo_live_{h40}
shopify token shpat_{h32}
shopify custom_token shpca_{h32}
shopify private_token shppa_{h32}
shopify shared_secret shpss_{h32}
slack bot_token xoxb-{n12}-{n12}-{w24}
slack user_token xoxp-{n12}-{n12}-{n12}-{h32}
slack app_token xapp-1-A{A10}-{n13}-{h64}
slack config_token xoxe.xoxp-1-{A163}
slack refresh_token xoxe-1-{A146}
slack workspace_token xoxa-2-{w40}
slack webhook https://hooks.slack.com/services/T{A8}/B{A8}/{w24}
sonarqube token squ_{h40}
sonarqube project_token sqp_{h40}
sourcegraph token sgp_{h16}_{h40}
square access_token sq0atp-{d22}
square oauth_secret sq0csp-{d43}
square production_token EAAA{d60}
stripe secret_key sk_live_{w24}
stripe test_key sk_test_{w99}
stripe restricted_key rk_live_{w24}
stripe webhook_secret whsec_{w32}
supabase token sbp_{h40}
supabase secret_key sb_secret_{d31}
tailscale auth_key tskey-auth-{w11}-{w32}
tavily api_key tvly-{w32}
teams webhook https://acme.webhook.office.com/webhookb2/{u}@{u}/IncomingWebhook/{h32}/{u}
telegram bot_token {n10}:AA{d33}
tencent secret_id AKID{w32}
twilio api_key SK{h32}
twitter bearer_token AAAAAAAAAAAAAAAAAAAAAA{w80}
typeform token tfp_{d44}_{w14}
unkey root_key unkey_{w24}
vercel token vcp_{w56}
volcengine access_key AKLT{w44}
wakatime api_key waka_{u}
xai api_key xai-{w80}
xata api_key xau_{w40}
yandex access_token t1.{d20}.{d86}
yandex api_key AQVN{d36}
yandex aws_key YC{d38}
zapier webhook https://hooks.zapier.com/hooks/catch/{n7}/{a7}/
zoho refresh_token 1000.{h32}.{h32}
zuplo api_key zpka_{h32}_{h8}
"""
# Without a mark: what scanners find only next to the service's name.
_UNMARKED = """
adafruit api_key {d32}
adobe client_id {h32}
airtable api_key {a17}
algolia api_key {h32}
alibaba secret_key {a30}
asana client_secret {h32}
aws secret_access_key {s40}
bitbucket client_secret {d64}
bittrex access_key {h32}
meraki api_key {h40}
cloudflare api_token {d40}
cloudflare global_api_key {h37}
codecov access_token {a32}
cohere api_token {w40}
coinbase access_token {d64}
confluent access_token {a16}
confluent secret_key {s64}
contentful delivery_token {d43}
datadog api_key {h32}
datadog access_token {h40}
deepgram api_key {h40}
discord client_secret {d32}
droneci access_token {a32}
etsy access_token {a24}
facebook app_secret {h32}
fastly api_token {d32}
finicity client_secret {w20}
finnhub access_token {a20}
flickr access_token {h32}
freshbooks access_token {h64}
gitter access_token {h40}
heroku api_key {u}
hubspot api_key {u}
intercom api_key {d60}
jfrog identity_token {a64}
kraken access_token {s86}==
kucoin access_token {h24}
launchdarkly access_token {d40}
linkedin client_secret {w16}
looker client_secret {a24}
mattermost access_token {a26}
messagebird api_token {w25}
netlify access_token {d43}
nytimes access_token {w32}
opsgenie api_key {u}
pagerduty api_key {w20}
plaid secret {h30}
rapidapi access_token {a50}
sendbird access_token {h40}
snyk token {u}
sumologic access_token {w64}
travis access_token {w22}
trello api_key {h32}
trello access_token {h64}
twilio auth_token {h32}
twitch api_token {a30}
twitter api_secret {w50}
twitter access_secret {w45}
zendesk secret_key {h40}
"""

CONTEXTS = ("telling name", "bare key", "yaml", "json", "xml", "ini", "shell", "prose")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of token: who issues it, what it is called, how it is written."""

    service: str
    noun: str
    form: str
    is_marked: bool

    @property
    def name(self) -> str:
        """The kind as a reader of a report sees it."""
        return f"{self.service} {self.noun.replace('_', ' ')}"


@dataclass(frozen=True, slots=True)
class Case:
    """A text, and the token in it that must not show."""

    kind: Kind
    context: str
    text: str
    secret: str


def kinds() -> list[Kind]:
    """Every kind, marked ones first."""
    return [
        Kind(*line.split(None, 2), is_marked=is_marked)
        for table, is_marked in ((_MARKED, True), (_UNMARKED, False))
        for line in table.strip().splitlines()
    ]


def cases(seed: int = 11, each: int = 2) -> Iterator[Case]:
    """Yield `each` texts for every kind in every context."""
    for kind in kinds():
        dice = random.Random(f"{seed} {kind.name}")
        for context in CONTEXTS:
            for turn in range(each):
                secret = value(kind.form, dice)
                forms = _texts(kind, context, secret)
                yield Case(kind, context, forms[(turn + dice.randrange(len(forms))) % len(forms)], secret)


def value(form: str, dice: random.Random) -> str:
    """Write one token of a format."""
    return _PLACE.sub(lambda m: "".join(dice.choices(_ALPHABETS[m[1]], k=int(m[2]))), form.replace("{u}", _UUID))


def _texts(kind: Kind, context: str, secret: str) -> tuple[str, ...]:
    service, noun = kind.service, kind.noun
    camel = service + "".join(word.title() for word in noun.split("_"))
    said = f"{service.title()} {noun.replace('_', ' ')}"
    match context:
        case "telling name":
            return (
                f'{service}_{noun} = "{secret}"',
                f"const {camel} = '{secret}';",
                f"  self.{service}_{noun}='{secret}'  # {service}",
            )
        case "bare key":
            return f'KEY = "{secret}"', f'{service}_key = "{secret}"', f"{service.upper()}_KEY = '{secret}'"
        case "yaml":
            return (
                f"{service}:\n  url: https://api.example.org\n  {noun}: {secret}\n",
                f'env:\n  - name: {service.upper()}_{noun.upper()}\n    value: "{secret}"\n',
                f"stringData:\n  {service}-{noun.replace('_', '-')}: {secret}\n",
            )
        case "json":
            return (
                f'{{"{service}": {{"{noun}": "{secret}", "region": "eu-1"}}}}',
                f'{{\n  "url": "https://api.example.org",\n  "{camel}": "{secret}"\n}}',
                f'{{"service": "{service}", "key": "{secret}"}}',
            )
        case "xml":
            return (
                f"<{service}>\n  <{noun}>{secret}</{noun}>\n</{service}>",
                f'<add key="{service}.{noun}" value="{secret}" />',
                f'<add key="{service.title()}Key" value="{secret}" />',
                f"<key>{secret}</key>",
            )
        case "ini":
            return (
                f"[{service}]\nhost = api.example.org\n{noun} = {secret}\n",
                f"{service}.{noun.replace('_', '.')}={secret}\n",
            )
        case "shell":
            return (
                f"export {service.upper()}_{noun.upper()}={secret}\n",
                f"{service} login --{noun.replace('_', '-')} {secret} --verbose\n",
                f"{service.upper()}_{noun.upper()}='{secret}' ./deploy.sh\n",
                f"{service} --key {secret} run\n",
                f"curl -H 'X-Api-Key: {secret}' https://api.example.org\n",
            )
    if kind.is_marked:
        return (
            f"Yesterday we saw {secret} in the build log and rotated it.",
            f"It still worked on Friday ({secret}), so somebody must have renewed it.",
            f"Please use {secret}.",
        )  # fmt: skip
    return (
        f"The {said} is {secret}, please do not pass it on.",
        f"I sent you the {said}: {secret}.",
        f"We replaced the {said} {secret} last week.",
        f"For {service.title()}, the key is {secret}.",
    )
