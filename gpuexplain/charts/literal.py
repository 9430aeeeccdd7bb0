"""How does a text that others wrote stand in a chart as it is, and not as markup?"""

import html


def literal(text: str) -> str:
    """Return the text so that Plotly shows its very characters.

    Plotly reads tags, entities and formulas between dollar signs in every text: a name of a file or
    of a part may hold any of them.
    """
    return html.escape(text, quote=False).replace("$", "&#36;")
