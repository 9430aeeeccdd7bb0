"""Style rules of Home alone; colours come as variables of the theme."""

HOME_RULES = """
/* a card is one link: its link covers it, and shows its focus around the whole of it */
[class*=st-key-home-card-]{position:relative;background:var(--gx-second);gap:.35rem}
[class*=st-key-home-card-] .stElementContainer:has([data-testid=stPageLink]),
[class*=st-key-home-card-] [data-testid=stPageLink],
[class*=st-key-home-card-] [data-testid=stPageLink] div,
[class*=st-key-home-card-] [data-testid=stPageLink-NavLink]{position:static;padding-left:0;margin-left:0;
  background:none!important}
[class*=st-key-home-card-] [data-testid=stPageLink-NavLink]::after{content:"";position:absolute;inset:0;
  border-radius:.5rem;z-index:1}
[class*=st-key-home-card-] [data-testid=stPageLink-NavLink] p{font-weight:600;color:var(--gx-muted)}
[class*=st-key-home-card-]:hover,[class*=st-key-home-card-]:focus-within{border-color:var(--gx-gpu)}
[class*=st-key-home-card-]:hover [data-testid=stPageLink-NavLink] p{color:var(--gx-gpu)}
[data-testid=stMain] [class*=st-key-home-card-] [data-testid=stPageLink-NavLink]:focus-visible{outline:none!important}
[class*=st-key-home-card-] [data-testid=stPageLink-NavLink]:focus-visible::after{
  outline:2px solid var(--gx-gpu);outline-offset:2px}
.gx-card{line-height:1.4;color:var(--gx-text)}
.gx-card .gx-label{font-size:.95rem}
.gx-card .gx-number{font-size:1.9rem;font-weight:720;letter-spacing:-.02em;line-height:1.2;margin:.05rem 0}
.gx-card .gx-number.gx-long{font-size:1.3rem;line-height:1.3;padding:.15rem 0}
.gx-card .gx-note{font-size:.875rem;color:var(--gx-muted)}
.gx-card .gx-now{font-size:.875rem;font-weight:600;color:var(--gx-gpu);margin-top:.3rem}
.gx-card .gx-now.gx-bad{color:var(--gx-warning)}
[class*=st-key-home-card-] .stMarkdownBadge{font-weight:550;white-space:normal!important}
/* in a third of the page a label stands over its text */
.st-key-home-machine .gx-facts{grid-template-columns:1fr;gap:0}
.st-key-home-machine .gx-facts dd{margin-bottom:.5rem}
.st-key-home-story p{max-width:44rem}
"""
