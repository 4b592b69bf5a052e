# SPDX-License-Identifier: MIT
"""Colours of code, with a contrast of 4.5 at least on their backgrounds."""
from pygments.style import Style
from pygments.token import Comment, Error, Generic, Keyword, Name, Number, Operator, String, Token


def style(background, text, comment, keyword, name, string):
    return {"background_color": background, "styles": {
        Token: text, Comment: comment, Comment.Preproc: keyword, Keyword: keyword, Keyword.Type: keyword, Operator: text,
        Name: text, Name.Class: name, Name.Function: name, Name.Builtin: name, Number: string, String: string,
        Generic.Prompt: comment, Error: text}}


class Light(Style):
    locals().update(style("#f6f8fa", "#24292f", "#57606a", "#8a1c7c", "#0b5a80", "#7a3e00"))


class Dark(Style):
    locals().update(style("#1e2227", "#e6e9ec", "#a2abb4", "#e6a3df", "#7cc4ea", "#f0b679"))
