"""Style rules that do not depend on the theme; colours come as variables."""

# Selectors: .gx-* is our own HTML, .st-key-* a container or widget that we named.
RULES = """
.stMainBlockContainer{max-width:84rem}
@media (min-width:900px){.stMainBlockContainer{padding-left:3.5rem;padding-right:3.5rem}}
.gx-eyebrow{font-size:.75rem;font-weight:650;letter-spacing:.08em;text-transform:uppercase;
  color:var(--gx-muted)}
.st-key-head p{font-size:.75rem;font-weight:650;letter-spacing:.08em;text-transform:uppercase}
.st-key-head{margin-bottom:.3rem}
.st-key-head h1{font-size:2.1rem;line-height:1.2;letter-spacing:-.02em;padding:.15rem 0 0;text-wrap:balance}
[class*=-answer] p{max-width:60rem}
[class*=-answer] p:first-child{font-size:1.3rem;line-height:1.4;font-weight:600;margin:.4rem 0 .5rem;text-wrap:pretty}
[class*=-answer] .stMarkdownBadge{font-weight:550;white-space:normal}
.gx-cpu,.gx-gpu,.gx-transfer,.gx-overhead,.gx-theory,.gx-warning{font-weight:650}
.gx-cpu{color:var(--gx-cpu)}.gx-gpu{color:var(--gx-gpu)}.gx-transfer{color:var(--gx-transfer)}
.gx-overhead{color:var(--gx-overhead)}.gx-theory{color:var(--gx-muted)}.gx-warning{color:var(--gx-warning)}
.gx-words{font-size:1rem;line-height:1.6;color:var(--gx-text);overflow-wrap:anywhere}
.gx-words h2{font-size:.75rem;font-weight:650;letter-spacing:.08em;text-transform:uppercase;
  color:var(--gx-muted);margin:0 0 .15rem;padding:0}
.gx-words p{margin:0 0 1rem}
.gx-words .gx-sources{font-size:.8rem;line-height:1.45;color:var(--gx-muted)}
.gx-caveats{padding:.7rem .9rem;border-left:3px solid var(--gx-warning);background:var(--gx-warning-soft);
  border-radius:0 .4rem .4rem 0;font-size:.9rem;line-height:1.5}
.gx-caveats h2{color:var(--gx-warning)}
.gx-caveats ul{margin:.2rem 0 0;padding-left:1.1rem}.gx-caveats li{margin:.1rem 0;padding:0;font-size:.9rem}
.gx-lab-claims ul{margin:.2rem 0 0;padding-left:0;list-style:none}
.gx-lab-claims li{margin:.2rem 0 0;padding:0;font-size:.95rem;line-height:1.5}
.gx-caveats summary{cursor:pointer;color:var(--gx-text);margin-top:.3rem}
.gx-caveats summary:focus-visible{outline:2px solid var(--gx-gpu);outline-offset:2px}
/* a definition opens under its word, as wide as the text it stands in */
.gx-words{position:relative}
.gx-term{cursor:help;border-bottom:1.5px dotted var(--gx-muted)}
.gx-term:focus-visible{outline:2px solid var(--gx-gpu);outline-offset:2px;border-radius:2px}
.gx-def{display:none;position:absolute;left:0;right:0;margin-top:1.8em;z-index:50;max-width:22rem;
  padding:.55rem .7rem;border-radius:.45rem;font-size:.85rem;font-weight:400;line-height:1.45;
  color:var(--gx-text);background:var(--gx-background);border:1px solid var(--gx-muted);
  box-shadow:0 4px 16px rgba(0,0,0,.18)}
.gx-term:hover+.gx-def,.gx-term:focus+.gx-def,.gx-def:hover{display:block}
.gx-muted{color:var(--gx-muted)}
.gx-machine{font-size:.875rem;
  line-height:1.6;color:var(--gx-text)}
.gx-machine .gx-eyebrow{margin-bottom:.3rem}
.gx-facts{display:grid;padding:0!important;
  grid-template-columns:8.5rem 1fr;gap:.5rem 1rem;margin:0;font-size:.95rem;
  line-height:1.45}
.gx-facts dt{color:var(--gx-muted);margin:0;font-weight:400}
.gx-facts dd{margin:0;color:var(--gx-text);overflow-wrap:anywhere}
/* a box of facts above the charts */
.gx-panel{padding:.8rem 1rem;border:1px solid var(--gx-line);border-radius:.5rem;background:var(--gx-background)}
.gx-panel p:last-child,.gx-panel ul:last-child{margin-bottom:0}
.gx-panel dl{margin-bottom:.9rem;grid-template-columns:13rem 1fr}.gx-panel h2{margin-bottom:.35rem}
/* the worked sum: the chosen output's products stand out, and what is done at the same time stands in one line */
.st-key-by-hand-sum h2{font-size:1.05rem;font-weight:650;line-height:1.35;color:var(--gx-text);margin:0;padding:0}
.st-key-by-hand-sum{margin:.6rem 0 .4rem}
[class*=st-key-by-hand-row]{flex-wrap:nowrap!important}
[class*=st-key-by-hand-row]>*,[class*=st-key-by-hand-row] [data-testid=stNumberInput]{min-width:0!important}
.gx-sums,.gx-rounds{list-style:none;margin:0 0 .6rem!important;padding:0!important}
.gx-sums li{font-size:1.1rem;line-height:1.9;margin:0;padding:0 0 0 .7rem;border-left:3px solid transparent}
.gx-sums .gx-chosen{color:var(--gx-text);border-left-color:var(--gx-gpu)}
.gx-chosen .gx-product{padding:.1rem .35rem;border-radius:.3rem;color:var(--gx-gpu);background:var(--gx-gpu-soft);
  border:1px solid var(--gx-gpu);font-weight:650;white-space:nowrap}
.gx-rounds li{font-size:.9rem;margin:0 0 .35rem;padding:0}
.gx-rounds li>span:first-child{display:block;color:var(--gx-muted)}
.gx-step{display:inline-block;margin:.15rem .3rem .15rem 0;padding:.05rem .4rem;border-radius:.3rem;
  border:1px solid var(--gx-line);white-space:nowrap;color:var(--gx-text)}
.gx-step.gx-chosen{border-color:var(--gx-gpu);color:var(--gx-gpu)}
/* what the clock shows with the mistakes that are switched on */
.st-key-mistakes{column-gap:1.25rem;row-gap:.25rem}
.gx-choice{width:100%;border-collapse:collapse;font-size:.95rem;margin:0 0 .6rem}
.gx-choice th,.gx-choice td{text-align:left;vertical-align:top;padding:.35rem .9rem .35rem 0;
  border:0;border-top:1px solid var(--gx-line);color:var(--gx-text)}
.gx-choice thead th{border-top:0;color:var(--gx-muted);font-weight:400;font-size:.85rem}
.gx-choice td:nth-of-type(-n+2){white-space:nowrap}
.gx-choice .gx-warning{color:var(--gx-warning)}
.gx-glossary dt{scroll-margin-top:4rem}
.gx-glossary dt a{color:var(--gx-text);font-weight:650;text-decoration:none;border-bottom:1.5px dotted var(--gx-muted)}
.gx-glossary dt a:hover{border-bottom-style:solid}
.gx-figure{font-size:2rem;font-weight:720;letter-spacing:-.02em;line-height:1.2}
.gx-visible-cost{font-size:.875rem;color:var(--gx-muted)}

/* our HTML brings its own margins; tooltips may leave their box */
.stHtml,[data-testid=stHtml]{overflow:visible}

/* preset names: the value is the label (it is written into the address bar), shown as a title */
.st-key-preset [role=radio]{min-height:2.5rem}
.st-key-preset [role=radio] p::first-letter{text-transform:uppercase}
.st-key-preset [role=radio] p{display:block;line-height:1.2}
.st-key-preset [role=radio]{padding-left:.7rem;padding-right:.7rem}
.st-key-preset [role=radio] p::after{margin-left:.4em;font-weight:400;opacity:.85}

/* a chart: its finding above it, breaking as the page does; higher where the page is wider */
.gx-chart-title{font-size:1.05rem;font-weight:650;line-height:1.35;letter-spacing:-.005em;
  color:var(--gx-text);margin:0;padding:.4rem 0 0;text-wrap:pretty}
[class*=st-key-lab-] .stElementContainer:has(.stPlotlyChart){height:var(--gx-chart-px)}
@media (min-width:1440px){
  [class*=st-key-lab-] .stElementContainer:has(.stPlotlyChart){height:calc(var(--gx-chart-px)*1.18)}
}
@media (min-width:1700px){
  [class*=st-key-lab-] .stElementContainer:has(.stPlotlyChart){height:calc(var(--gx-chart-px)*1.35)}
}

/* both charts beside the words; the words may be longer than they */
@media (min-width:900px){
  .st-key-lab-body{display:grid;grid-template-columns:minmax(0,2fr) minmax(0,1fr);
    grid-template-rows:repeat(6,auto) 1fr;gap:0 2.75rem}
  .st-key-lab-body>div{grid-column:1/-1;min-width:0;margin-bottom:1rem}
  .st-key-lab-body>div:has(>.st-key-lab-answer){grid-row:1}
  .st-key-lab-body>div:has(>.st-key-lab-controls){grid-row:2}
  .st-key-lab-body>div:has(>.st-key-lab-problems){grid-row:3}
  .st-key-lab-body>div:has(>.st-key-lab-progress){grid-row:4}
  .st-key-lab-body>div:has(>.st-key-lab-panel){grid-row:5}
  .st-key-lab-body>div:has(>.st-key-lab-main){grid-column:1;grid-row:6}
  .st-key-lab-body>div:has(>.st-key-lab-words){grid-column:2;grid-row:6/span 2}
  .st-key-lab-body>div:has(>.st-key-lab-second){grid-column:1;grid-row:7}
}

.st-key-lab-row{column-gap:.75rem}
.st-key-lab-open{display:none}
/* controls share one baseline; primary buttons have contrast in both themes */
.st-key-lab-controls [data-testid=stHorizontalBlock]{align-items:flex-end}
[data-testid=stBaseButton-primary]:enabled,[data-testid=stBaseButton-primary]:enabled p{
  color:var(--gx-on-primary)!important}
[data-testid=stBaseButton-primary]{font-weight:650}
[data-testid=stCaptionContainer],[data-testid=stCaptionContainer] p{color:var(--gx-muted)!important;opacity:1}
[data-testid=stMain] a:focus-visible,[data-testid=stMain] button:focus-visible,
[data-testid=stSidebar] a:focus-visible,[role=tab]:focus-visible,[role=radio]:focus-visible{
  outline:2px solid var(--gx-gpu)!important;outline-offset:2px}

@media (max-width:640px){
  .st-key-head{margin-bottom:.3rem}
.st-key-head h1{font-size:1.6rem}[class*=-answer] p:first-child{font-size:1.1rem}
  /* the answer and the chart come before the controls */
  .st-key-lab-body>div:has(>.st-key-lab-controls){order:3}
  .st-key-lab-body>div:has(>.st-key-lab-progress),.st-key-lab-body>div:has(>.st-key-lab-panel){order:1}
  .st-key-lab-body>div:has(>.st-key-lab-main){order:2}
  .st-key-lab-body>div:has(>.st-key-lab-words),.st-key-lab-body>div:has(>.st-key-lab-second){order:4}
  .st-key-lab-open{display:block;order:1;align-self:center}
  .st-key-lab-row:not(:has(.st-key-lab-open input:checked))>:not(.st-key-lab-open,.st-key-run,.st-key-cancel){
    display:none}
  .gx-facts,.gx-panel dl{grid-template-columns:1fr;gap:0}.gx-facts dd{margin-bottom:.5rem}
  .gx-choice thead{display:none}.gx-choice tr,.gx-choice th,.gx-choice td{display:block;padding:.1rem 0;border:0}
  .gx-choice tr{border-top:1px solid var(--gx-line);padding:.4rem 0}
  .gx-choice td::before{content:attr(data-label) ": ";color:var(--gx-muted)}
}
@media (prefers-reduced-motion:reduce){
  *,*::before,*::after{animation-duration:.001ms!important;animation-iteration-count:1!important;
    transition-duration:.001ms!important;scroll-behavior:auto!important}
}
"""

# For an audience: larger type, no sidebar, the whole width.
PRESENTER_RULES = """
html{font-size:125%}
[data-testid=stSidebar],[data-testid=stExpandSidebarButton]{display:none}
.stMainBlockContainer{max-width:none}
"""
