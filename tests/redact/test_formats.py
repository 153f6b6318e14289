"""Secrets in the formats of real files: settings, exports of password managers, dumps, commands, code; the weak ones too."""

from __future__ import annotations

import pytest

from smart_context import redact

PASSWORD, TOKEN = "sunflower7", "q7Rk2ZpX9vLm4TnB8wYc3HdJ"
FORMATS = {
    # settings
    "Markdown, bold": "**Password:** {p} and more\n**API key:** {t}\n*Password:* `{p}`\n",
    "YAML, below a key": "password:\n  value: {p}\n",
    "YAML, several": "passwords:\n  jane: {p}\n  bob: {p}2\nother: 1\n",
    "Terraform, here document": "password = <<EOF\n{p}\nEOF\n",
    "Terraform, state": '"db_password": {{"value": "{p}", "type": "string", "sensitive": true}}',
    "Terraform, variable": 'variable "db_password" {{\n  type = string\n  default = "{p}"\n}}\n',
    "TOML, several lines": 'secret = """\n{t}"""\n',
    "Java properties, next line": "spring.datasource.password=\\\n  {p}\nnext=1\n",
    "netrc": "default login jane password {p}\n",
    "Cisco": "username jane password 0 {p}\n",
    "WLAN": 'ssid="home"\npsk="{p}"\n',
    "WLAN, QR code": "WIFI:S:home;T:WPA;P:{p};;\n",
    "JSON, a field and its value": '{{"name":"password","type":"text","value":"{p}"}}',
    "HAR": '{{"name":"Cookie","value":"sid={t}"}}',
    "HTML": "<p><strong>Password:</strong> {p}<br>Bye</p>\n",
    # tables
    "CSV, quoted cells": 'name,url,username,password,note\n"A, Inc.",u,jane,{p},"one\ntwo"\nB,u,bob,"{p},x",\nC,u,kim,{p}3,\n',
    "SQL, INSERT": "INSERT INTO users (name, password) VALUES ('jane', '{p}'), ('it''s bob', '{p}2');\n",
    "SQL, all quoted": "INSERT INTO `users` (`id`,`password`,`age`) VALUES (1,'{p}',3);\n",
    "SQL, COPY": "COPY users (id, name, password) FROM stdin;\n1\tjane\t{p}\n2\tbob\t{p}2\n\\.\n",
    # commands and code
    "PowerShell": "Connect-X -UserName jane -Password {p}\n",
    "curl, several lines": "curl -X POST \\\n  -u 'jane:{p}' \\\n  https://a.example\n",
    "docker": "docker login -u jane -p {p}\n",
    "MongoDB": "mongosh -u jane -p {p} --authenticationDatabase admin\n",
    "LDAP": "ldapsearch -D cn=a -w {p} -b x\n",
    "PHP": "define('DB_PASSWORD', '{p}');\n",
    "Python, default": "os.getenv('PASSWORD', '{p}')\n",
    "JavaScript, default": "password: process.env.X || '{p}',\n",
    "Go": 'var token string = "{t}"\n',
    "Rust": 'let token: &str = "{t}";\n',
    "C#": 'public string Password {{ get; set; }} = "{p}";\n',
    "TypeScript": "password?: string = '{p}';\n",
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_secret_is_hidden_in_its_format(name):
    text = FORMATS[name].format(p=PASSWORD, t=TOKEN)
    cleaned = redact.clean(f"jane\n{text}")
    assert PASSWORD not in cleaned
    assert TOKEN not in cleaned
    assert redact.clean(cleaned) == cleaned


def test_a_uuid_is_a_token_also_where_it_has_what_a_regular_expression_may_have():
    assert redact.clean('{"token": "dfb336b0-90be-4baa-af2e-a78813f2f55e"}') == '{"token": "[redacted:secret]"}'
    assert redact.clean('{"token": "[a-f0-9]{8}-[0-9a-f]{4}"}') == '{"token": "[a-f0-9]{8}-[0-9a-f]{4}"}'


@pytest.mark.parametrize(
    "text",
    [
        "ssh_keys:\n  - key_name: sshkey1\n", "passwords:\n  min_length: 12\n  kind: required\n", "@PSK_8: 8-PSK modulation", "the user must pass `--user2` here", '$shell = $pw->shell || "/bin/sh2";',
        "mongosh admin --username jane --port 27017", "INSERT INTO users (name, age) VALUES ('jane2x', '31x9ab')\n", "COPY users (id, password) FROM stdin;\nwords2\n", "docker login --help2\n", 'variable "password" {\n  type = string\n}\nvalue2 = "x1y2z3"\n',
        "**Password:** required\n", "the user changed password yesterday\n",
    ],
)  # fmt: skip
def test_what_is_no_secret_in_such_a_format_stays(text):
    assert redact.clean(text) == text
