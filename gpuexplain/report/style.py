"""How a page that is kept looks: one style sheet and one script, both inside the page."""

from gpuexplain.charts.theme import ENTITY_STYLES, PALETTES, SOFT_OPACITY, Theme, with_alpha

# The width of the text on A4 with its margins.
PRINT_PX = 680

_RULES = """
*{box-sizing:border-box}
html{color-scheme:light dark}
body{margin:0;background:var(--background);color:var(--text);
  font:16px/1.55 "Inter","Source Sans 3","Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:62rem;margin:0 auto;padding:2.2rem 1.4rem 3rem}
h1{font-size:1.9rem;line-height:1.2;letter-spacing:-.02em;margin:.2rem 0 .4rem;text-wrap:balance}
h2{font-size:1.3rem;line-height:1.3;margin:0 0 .3rem;text-wrap:balance}
h3{font-size:.75rem;font-weight:650;letter-spacing:.08em;text-transform:uppercase;
  color:var(--muted);margin:1rem 0 .2rem}
p{margin:0 0 .7rem}
.eyebrow,.small,figcaption{color:var(--muted);font-size:.875rem}
.eyebrow{font-weight:600}
section{margin-top:1.8rem}
.chapter{border-top:1px solid var(--line);padding-top:1.4rem}
.answer{font-size:1.1rem;font-weight:600;line-height:1.45}
dl{display:grid;grid-template-columns:minmax(7rem,13rem) 1fr;gap:.3rem 1rem;margin:0;font-size:.92rem}
dt{color:var(--muted)}details dt::first-letter{text-transform:uppercase}dd{margin:0;overflow-wrap:anywhere}
ul{margin:.2rem 0 .7rem;padding-left:1.2rem}
.tiles{list-style:none;display:grid;grid-template-columns:repeat(auto-fit,minmax(12.5rem,1fr));gap:.8rem;padding:0}
.tiles li{border:1px solid var(--line);background:var(--second);border-radius:.5rem;padding:.8rem .95rem}
.tiles .number{font-size:1.8rem;font-weight:720;letter-spacing:-.02em;line-height:1.2;margin:.1rem 0}
.tiles .long{font-size:1.25rem;line-height:1.35}
.tiles p{margin:0}
a{color:var(--gpu)}
.badge{display:inline-block;border-radius:.3rem;padding:.05rem .45rem;font-size:.82rem;margin:0 .3rem .3rem 0;
  background:var(--second);border:1px solid var(--line);color:var(--muted)}
.badge.here{color:var(--overhead);border-color:var(--overhead)}
.badge.ghost{color:var(--transfer);border-color:var(--transfer)}
.badge.warning{color:var(--warning);border-color:var(--warning)}
figure{margin:.6rem 0}
.chart{width:100%;min-height:480px;overflow:hidden}
.caveats{border-left:3px solid var(--warning);background:var(--warning-soft);padding:.6rem .9rem;font-size:.9rem}
.caveats h3{color:var(--warning);margin-top:0}
.caveats ul{margin:0}
abbr{text-decoration:underline dotted;cursor:help}
code{font-family:"JetBrains Mono",ui-monospace,Menlo,Consolas,monospace;font-size:.9em}
.cpu,.gpu,.transfer,.overhead,.theory{font-weight:650}
.cpu{color:var(--cpu)}.gpu{color:var(--gpu)}.transfer{color:var(--transfer)}.overhead{color:var(--overhead)}
.theory{color:var(--muted)}.warning{color:var(--warning)}
details{margin:.4rem 0;font-size:.92rem}
summary{cursor:pointer;color:var(--muted)}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums;white-space:nowrap}
th,td{padding:.15rem .8rem .15rem 0;text-align:right}th{color:var(--muted);font-weight:600}
.left{text-align:left}
@media (max-width:40rem){
  dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.45rem}main{padding:1.2rem 1rem}
  h1{font-size:1.5rem}}
@media print{main{max-width:none;padding:0}.chapter,figure,.tiles li{break-inside:avoid}section{margin-top:1.2rem}
  details:not([open]){display:none}
  table{font-size:.7rem}th,td{padding-right:.55rem}td.left{white-space:normal}.wide{overflow:visible}}
"""

# Draws every chart in the colours of the reader's theme, and in the light ones on paper.
SCRIPT = """
const figures = JSON.parse(document.getElementById('figures').textContent);
const dark = matchMedia('(prefers-color-scheme: dark)');
function draw(theme, width) {
  for (const [id, themes] of Object.entries(figures)) {
    const {data, layout} = themes[theme];
    const size = innerWidth < 480 ? 12 : 15;  // titles are wrapped for the fonts of the app; others are wider
    const title = {...layout.title, font: {...(layout.title || {}).font, size}};
    Plotly.react(id, data, {...layout, title, width, autosize: !width}, {displayModeBar: false, responsive: !width});
  }
}
const show = () => draw(dark.matches ? 'dark' : 'light');
show();
dark.addEventListener('change', show);
addEventListener('beforeprint', () => draw('light', PRINT_PX));
addEventListener('afterprint', show);
""".replace("PRINT_PX", str(PRINT_PX))


def style_sheet() -> str:
    """Return the rules, with the colours of both themes; paper is always light."""
    return (
        f":root{{{_variables('light')}}}"
        f"@media (prefers-color-scheme:dark){{:root{{{_variables('dark')}}}}}"
        f"@media print{{:root{{{_variables('light')};color-scheme:light}}}}"
        f"{_RULES}"
    )


def _variables(theme: Theme) -> str:
    palette = PALETTES[theme]
    names = {name: getattr(palette, name) for name in ("background", "second", "text", "muted", "line")}
    for entity, look in ENTITY_STYLES.items():
        names[entity.value] = look.color(theme)
        names[f"{entity.value}-soft"] = with_alpha(look.color(theme), SOFT_OPACITY)
    return ";".join(f"--{name}:{color}" for name, color in names.items())
