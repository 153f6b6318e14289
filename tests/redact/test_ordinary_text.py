"""What code, settings, tables and documentation have beside the names of secrets, and is no secret: it stays, and can be searched."""

from __future__ import annotations

import pytest

from smart_context import redact

NAMED = [
    # a name, a file, a resource, a part that is put in later
    '"input_token": "NextToken"', '"clientToken": "idempotencyToken"', 'auth_key: "SSHPrivateKey"', 'self.private_key = "Ed25519PrivateKey"', "token = TEST_DATA_BASE64", '"V2Secret": ".models.v2_secret"',
    'def make_private_key(self) -> "Ed25519PrivateKey":', "class _X25519PrivateKey(X25519PrivateKey):", "private_key: keys/private_key_admin1.pem", "secret -> ../dm-0", "initial token → changes.html#version_3_2_0",
    "at a.b.StreamParser.parseNextToken(StreamParser.java:350)", "encryption_key: arn:aws:kms:eu-west-1:111122223333:alias/aws/s3", "arn:aws:secretsmanager:eu-west-1:111122223333:secret:MyDatabase-a1b2c3", 'client_token = "Made-By-Us-{0}-{1}"',
    '"TargetKeyId": "d2b0f1a3-580d-4f79-b836-bc983be8cfa5"', ".fa-user-secret:before{content:'f21b'}", '{"./lib/TypesSecret":37,"fbjs/lib/none":9}', "user_pass = '%s:%s'", 'my_password "\\\\n"', "pass: *pass", "ansible_password: !vault |",
    # what a key of a setting holds in turn
    '"password": {"no_log": true, "v_range2": ["7.4.1"]}', '"Password":{"shape":"PasswordType"}', '"Credentials": {"AccessKeyId": "x"}', '"NextToken": {"type": "string", "shape": "NextToken2500"}',
    # brackets
    'log("Get the secret {0}".format(name))', "password [success=1 default=ignore]", "make_private_key(public_exponent=65537, x)", "identity.V2Password(username=uuid.uuid4().hex, x)", "/bin/passwd [a\\-zA\\-Z0\\-9]*, x", "decode the password (https://a.example/issues/142)",
    "`x.create_private_key <a.modules.x509_v2.create_private_key>`", "* `git_password` (**pygit2** only)",
    # sentences, regular expressions, documentation of functions
    "All changes must pass:\nself-{all,install2}\n", "you must pass :file:`a.lib` to the linker", ":type passphrase: :py:data:`bytes`", "r'([^&;]*(?:password|token)[^=]*=)[^&;]+'", "cl_pw = r'([0-9a-f]{64})'", 'def log_in(self, user, password):\n    """Log2in."""', "the --user and --password options\n",
    'if update_password == "always":', "socks5h://<username>:<password>@proxy-host9",
    "2.2. Basic Options\n", "authorization = base64.decodebytes(authorization).x", "re.compile(r'https://[^:]+:[^@]+@')", "i2d_ECPrivateKey, i2d_ECPKParameters2, i2d_ECParameters",
    "a0Mdp//TBt2dzhauH8XwIDAQABo4IB",
    # text without spaces between words
    "密码：请输入8位密码\n", '"password": "请输入8位密码"', "加密后的密码（开头的“$1$”表示使用）", "入力中のパスワードはスクリーンには現われない。", "Password:\n\nこれにより2回", "新口令(象\\fBpasswd\\fR(1)那樣)。",
    # tokens that are none
    "test/test_ipv6_ipv4_mapped.py", "def test_CKV_AWS_91_ELBv2AccessLogs(x):", "fw_cdev_get_cycle_timer2 (C struct)", "a.py,sha256=qaN-fw_htIgKUVXoAuAEVgKxQu3tZ9qE2eiKkWIS7LA,1", '"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t..."', "id: aHR0cHM6Ly93d3cuZXhhbXBsZS5jb20vd2ViaG9va3M=",
    '"tokens": ["zamierzajacej", "specjalistycznej", "ggibywdrieqsfoqqbyxomehw"]',
]  # fmt: skip

TABLES = [
    "| name | needed |\n|---|---|\n| password | no |\n| tls_skip2 | no |\n| state | yes |\n",
    "+-------+-------+\n| word  | what  |\n+-------+-------+\n| passwd| sets  |\n+-------+-------+\n| touch | makes |\n",
    "get\treads\npassword\tasks\ntitle2\tholds\n",
    "    'raise', 'secret', 'redo',\n    'self', 'sizeof', 'super',\n",
    "def log_in(user, passwd, host):\ndef log_out(user, master, host):\n",
    "user, password = both.split()\nhostport, sid = host2\n",
    "    ('name', 'password', md5_pw, True)\n    ('name', 'another2', md5_pw, True)\n",
]


@pytest.mark.parametrize("text", NAMED + TABLES)
def test_what_is_no_secret_stays(text):
    for one in (text, f"jane\n{text}\nwords\n"):
        assert redact.clean(one) == one


HIDDEN = [
    # (text, what of it stays)
    ("DB_PASSWORD=hunter2x\nS3_BUCKET=foo2\n", "DB_PASSWORD={}\nS3_BUCKET=foo2\n"),
    ("auth_pass: hunter2x\n  v3_mode: AES2\n", "auth_pass: {}\n  v3_mode: AES2\n"),
    ('"passwords": {"jane": "hunter2", "bob": "xk29dm"}', '"passwords": {{"jane": "{}", "bob": "{}"}}'),
    ("パスワードはhunter2です", "パスワードは{}"), ("비밀번호: hunter2입니다", "비밀번호: {}"), ("密码（hunter2）", "密码（{}）"),
    ("password (hunter2)", "password ({})"), ("api_key = 'NxTmQwLpZa'", "api_key = '{}'"),
    ("| user | password |\n|---|---|\n| jane | hunter |\n", "| user | password |\n|---|---|\n| jane | {} |\n"),
    ("Accounts\t\nuser\tpassword\njane\thunter\n", "Accounts\t\nuser\tpassword\njane\t{}\n"),
    ("Hello, here they are:\nuser,password\njane,hunter\n", "Hello, here they are:\nuser,password\njane,{}\n"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shown"), HIDDEN)
def test_only_the_secret_is_hidden(text, shown):
    assert redact.clean(text) == shown.replace("{}", "[redacted:secret]").replace("{{", "{").replace("}}", "}")
