"""Passwords below a head that names them, in tables of several kinds; what is beside them stays."""

from __future__ import annotations

import pytest

from redaction_cases import masked
from smart_context import redact

HIDDEN = [
    "User,Password (initial)\njane,⟦walrus⟧", "User;Password (initial);Mail\njane;⟦walrus⟧;x", "Benutzer;Kennwort (neu)\njane;⟦walrus⟧", "User | Password [old] | Role\n--- | --- | ---\njane | ⟦walrus⟧ | clerk",
    "Benutzer;Startpasswort\njane;⟦walrus12⟧", "user,passwort1,passwort2\njane,⟦walrus12⟧,⟦kitten12⟧", "user,Windows password\njane,⟦walrus12⟧", "utente;password iniziale\njane;⟦walrus12⟧", "usuario,contraseña inicial\njane,⟦walrus12⟧", "kullanıcı,şifre\njane,⟦walrus12⟧", "用户名,初始密码\njane,⟦walrus12⟧",
    "name,password,pin\njane,⟦walrus⟧,⟦4711⟧",
    "# client server secret IP addresses\njane pptpd ⟦hunter2x⟧ *", "<table><tr><th>User</th><th>Password</th></tr><tr><td>jane</td><td>⟦hunter2x⟧</td></tr><tr><td>bob</td><td><code>⟦walrus⟧</code></td></tr></table>",
    "<thead>\n<tr>\n<th>Password</th>\n<th>User</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>⟦walrus⟧</td>\n<td>jane</td>\n</tr>\n</tbody>", "|===\n|User |Password\n\n|jane |⟦walrus⟧\n|===", '{| class="wikitable"\n! User !! Password\n|-\n| jane || ⟦walrus⟧\n|}', "||User||Password||\n|jane|⟦walrus⟧|",
]  # fmt: skip


@pytest.mark.parametrize("text", HIDDEN)
def test_what_stands_below_a_head_that_names_a_password_is_hidden_alone(text):
    plain, shown = masked(text)
    assert redact.clean(f"note\n{plain}\n\nand more\n") == f"note\n{shown}\n\nand more\n"


@pytest.mark.parametrize(
    "text",
    [
        "user,password hint\njane,walrus12\n", "name,password length\njane,walrus12\n", "user,my own password\njane,walrus\n", "def log(user, password)\njane, walrus12\n", "use a user name, a long password\nwalrus12, kitten12\n", "user,reset password\njane,walrus12\n",
        "<tr><th>User</th><th>Password</th></tr><tr><td>jane</td><td>required</td></tr>", "<tr><td>x</td></tr><tr><td>User</td><td>Password</td></tr><tr><td>jane</td><td>walrus</td></tr>", "<tr><th>User</th><th>Password hint</th></tr><tr><td>jane</td><td>walrus12</td></tr>",
        "||User||Password||\n|jane2x|", "! User !! Password\nwalrus12\n",
    ],
)  # fmt: skip
def test_what_stands_below_another_head_stays(text):
    assert redact.clean(text) == text
