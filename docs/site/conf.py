# SPDX-License-Identifier: MIT
"""Sphinx's configuration of the site, in the folder that assemble.py writes."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

project = "fusekit"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "fusekit"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["extra"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = True
pygments_style = "site_style.Light"
pygments_dark_style = "site_style.Dark"
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]
exclude_patterns = ["extra", "static"]
# Debian's Furo has its dark colours for a chosen theme only; those of dark_css_variables are for the system's choice too.
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0b5a80", "color-brand-content": "#0b5a80", "color-foreground-muted": "#57606a",
        "color-foreground-secondary": "#4a525a", "color-sidebar-caption-text": "#57606a", "color-toc-item-text": "#4a525a"},
    "dark_css_variables": {
        "color-brand-primary": "#7cc4ea", "color-brand-content": "#7cc4ea", "color-foreground-primary": "#e6e9ec",
        "color-foreground-secondary": "#b3bac1", "color-foreground-muted": "#9aa4ad", "color-foreground-border": "#666666",
        "color-background-primary": "#131416", "color-background-secondary": "#1a1c1e", "color-background-hover": "#1e2124",
        "color-background-hover--transparent": "#1e212400", "color-background-border": "#303335", "color-background-item": "#444444",
        "color-highlighted-background": "#083563", "color-highlight-on-target": "#333300", "color-admonition-background": "#18181a",
        "color-card-border": "#1a1c1e", "color-card-background": "#18181a", "color-card-marginals-background": "#1e2124",
        "color-sidebar-caption-text": "#9aa4ad", "color-toc-item-text": "#b3bac1"},
}
