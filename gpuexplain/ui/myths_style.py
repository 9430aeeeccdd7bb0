"""Style rules of the trial alone; colours come as variables of the theme."""

MYTHS_RULES = """
[class*=st-key-myth-M]{background:var(--gx-second);gap:.5rem}
.gx-myth h2{font-size:1.3rem;font-weight:650;line-height:1.35;margin:0;padding:0;color:var(--gx-text)}
.gx-myth h2 span{color:var(--gx-muted);font-weight:550;margin-right:.4rem}
.gx-myth p{margin:.25rem 0 0;color:var(--gx-text);line-height:1.5}
.gx-verdict{font-weight:700;font-size:1.05rem;line-height:1.4;padding:.15rem 0 .15rem .7rem!important;
  border-left:4px solid var(--gx-text)}
.gx-verdict-cannot_tell{border-left-style:double;border-left-color:var(--gx-warning)}
.gx-verdict-not_tested,.gx-verdict-cannot_be_tested{border-left-style:dashed;border-left-color:var(--gx-muted)}
.gx-myth,.gx-test,.gx-claims li{position:relative}
.gx-test{line-height:1.5;color:var(--gx-text);max-width:60rem;margin-top:.3rem}
.gx-test p{margin:.1rem 0 0}
.gx-test .gx-asks{font-weight:600}
.gx-test .gx-note,.gx-claims .gx-note{font-size:.875rem;color:var(--gx-muted);overflow-wrap:anywhere}
.gx-claims{list-style:none;margin:0 0 .3rem!important;padding:0!important;max-width:60rem;color:var(--gx-text)}
.gx-claims li{display:grid;grid-template-columns:2.2rem 1fr;margin:0 0 .6rem!important;padding:0!important;
  line-height:1.5;font-size:1rem}
.gx-claims .gx-no{color:var(--gx-muted);font-variant-numeric:tabular-nums}
.gx-claims .gx-outcome{font-weight:650}
[class*=st-key-trial-]{column-gap:1rem}
[class*=st-key-claims-]{border-top:1px solid var(--gx-line);padding-top:.6rem}
[class*=st-key-claims-] [data-testid=stPageLink-NavLink]{padding-left:0;margin-left:0}
[class*=st-key-claims-] [data-testid=stPageLink-NavLink] p{font-weight:650}
"""
