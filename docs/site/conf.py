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
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5a80", "color-brand-content": "#0b5a80", "color-foreground-muted": "#57606a",
                            "color-sidebar-caption-text": "#57606a"},
    "dark_css_variables": {"color-brand-primary": "#7cc4ea", "color-brand-content": "#7cc4ea", "color-foreground-muted": "#9aa4ad",
                           "color-sidebar-caption-text": "#9aa4ad"},
}
