/**
 * How the report looks: paper and pine by day, the same field by night.
 *
 * Only Sheaf has a colour in bars; rivals are grey, the best of them darker.
 * All sizes follow the reader's own font size.
 *
 * @module
 */

const tokens = `
:root{color-scheme:light dark;
--ground:light-dark(#f4f5f1,#111714);--surface:light-dark(#fff,#19211d);--sunken:light-dark(#eceee8,#141b17);
--line:light-dark(#dce1da,#2b362f);--line-strong:light-dark(#b5c1b8,#46544b);
--ink:light-dark(#16211b,#e8eee9);--soft:light-dark(#46544c,#b4c1b8);--faint:light-dark(#5d6b63,#93a198);
--pine:light-dark(#1d6b4f,#58c39a);--pine-2:light-dark(#4b9679,#3c9a78);--pine-3:light-dark(#8bbfa8,#2b7459);
--rival:light-dark(#cdd3cd,#3c4740);--best:light-dark(#8d9991,#76857b);
--ahead:light-dark(#175c43,#7fd6b2);--ahead-soft:light-dark(#dcefe5,#17382b);
--behind:light-dark(#9b2a1d,#ffa593);--behind-soft:light-dark(#fbe6e2,#44211b);--behind-fill:light-dark(#c8503f,#d9705e);
--level-fill:light-dark(#c4ccc5,#4c5951);
--warn-soft:light-dark(#fbefcd,#3a2f12);--warn:light-dark(#6d4c00,#f0cf7f);
--bar:light-dark(#123529,#0d1f18);--bar-ink:#eef5ef;--bar-faint:#b4ccbf;--wheat:#f0c24f;
--h0:light-dark(#4059c9,#8ea2ff);--h1:light-dark(#c4620c,#f2a25c);--h2:light-dark(#a3407a,#e68cc0);
--h3:light-dark(#1a7a90,#5fc7dc);--h4:light-dark(#8a6d00,#d9bc4a);--h5:light-dark(#6b49ac,#b79bf0);
--h6:light-dark(#b83a2c,#f08a7c);--h7:light-dark(#5b6470,#a9b4c2);--h8:light-dark(#8b5a3c,#cf9f80);
--h9:light-dark(#5f7a1e,#aecb62)}
`;

const base = `
*{box-sizing:border-box}html{scroll-behavior:smooth;scroll-padding-top:4.5rem;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:1rem/1.55 ui-sans-serif,system-ui,"Segoe UI",Roboto,sans-serif}
h1,h2,h3,h4,p,ul,dl,dd,figure{margin:0}ul{padding:0;list-style:none}
h1{font-size:clamp(1.6rem,4vw,2.3rem);line-height:1.15;letter-spacing:-.02em}
h2{font-size:1.5rem;letter-spacing:-.015em;line-height:1.2}h3{font-size:1.05rem;display:inline}h4{font-size:.95rem;
line-height:1.35}
a{color:var(--pine)}code{font:.875em ui-monospace,"SF Mono",Menlo,Consolas,monospace;overflow-wrap:anywhere}
:focus-visible{outline:3px solid var(--pine);outline-offset:2px;border-radius:4px}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.skip{position:absolute;left:-999px;top:0;background:var(--surface);padding:.5rem 1rem;z-index:9}.skip:focus{left:.5rem}
main,.inner{max-width:78rem;margin:0 auto;padding:0 clamp(1rem,3vw,2rem)}
.faint{color:var(--faint);font-weight:400;font-size:.875em}.quiet{color:var(--bar-faint);font-size:.875rem}
.num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.count{display:inline-block;min-width:1.6em;padding:0 .45em;border-radius:1em;background:var(--sunken);color:var(--soft);
font-size:.8em;font-weight:600;text-align:center}
.scroll{overflow-x:auto;border-radius:6px}
`;

const top = `
.banner{background:var(--bar);color:var(--bar-ink);padding:clamp(1.5rem,4vw,2.75rem) 0 0}
.banner p{max-width:62rem;margin-top:.5rem}.banner p+p{margin-top:.15rem}
nav{margin-top:1.25rem;overflow-x:auto}nav ul{display:flex;gap:.25rem;white-space:nowrap}
nav a{display:block;padding:.6rem .8rem;color:var(--bar-ink);text-decoration:none;border-bottom:3px solid transparent}
nav a:hover{border-color:var(--wheat)}nav li:first-child a{padding-left:0}
.banner :focus-visible{outline-color:var(--wheat);outline-offset:-3px}
.summary{padding:clamp(1.5rem,4vw,2.5rem) 0 1rem}
.lead{font-size:clamp(1.25rem,3.2vw,1.85rem);line-height:1.3;letter-spacing:-.015em;max-width:46rem;text-wrap:balance}
.ahead-ink{color:var(--ahead)}.behind-ink{color:var(--behind)}
.strip{display:block;width:100%;height:.5rem;border-radius:3px}.strip.large{height:1rem;margin:1.1rem 0 1.6rem;
border-radius:5px}
.strip .ahead{fill:var(--pine)}.strip .level{fill:var(--level-fill)}.strip .behind{fill:var(--behind-fill)}
.callout{background:var(--warn-soft);color:var(--warn);padding:.7rem 1rem;border-radius:8px;margin:1rem 0;max-width:62rem}
.callout ul{list-style:disc;padding-left:1.2rem}
.by-suite{width:100%;border-collapse:collapse;background:var(--surface);border-radius:10px;overflow:hidden}
.by-suite th,.by-suite td{padding:.55rem .9rem;border-bottom:1px solid var(--line);text-align:left}
.by-suite .num{text-align:right}.by-suite thead th{font-size:.8rem;color:var(--faint);font-weight:500}
.by-suite tbody tr:last-child>*{border-bottom:0}.by-suite .wide{width:45%;min-width:6rem}
.list{margin-top:1.25rem;background:var(--surface);border:1px solid var(--line);border-radius:10px}
.list>summary{padding:.75rem 1rem;cursor:pointer}.rows>li{padding:.6rem 1rem;border-top:1px solid var(--line)}
.said{color:var(--soft);font-size:.925rem}.why{color:var(--ink)}.wrong{color:var(--behind)}
.filter{position:sticky;top:0;z-index:5;background:var(--ground);padding:.6rem 0;border-bottom:1px solid var(--line)}
.filter fieldset{border:0;min-width:0;margin:0;padding:0;display:flex;gap:.4rem;align-items:center;overflow-x:auto;
white-space:nowrap}
.filter legend{float:left;padding:0 .6rem 0 0;font-weight:600;font-size:.875rem}
.filter label,.filter button{display:inline-flex;gap:.4rem;align-items:center;padding:.3rem .7rem;
border:1px solid var(--line-strong);
border-radius:2rem;background:var(--surface);color:inherit;font:inherit;font-size:.85rem;cursor:pointer;flex:none}
.filter input{accent-color:var(--pine);margin:0}.filter label:has(:checked).ours{border-color:var(--pine);
color:var(--ahead);font-weight:600}
.filter label:has(:not(:checked)){color:var(--faint);background:none;text-decoration:line-through}
.filter label:has(:focus-visible){outline:3px solid var(--pine);outline-offset:-1px}
`;

const suites = `
.suite{padding-top:3rem}.suite>header{margin-bottom:1rem}.suite>header .strip{max-width:22rem;margin:.8rem 0}
.suite>h3{display:block;margin:1.25rem 0 .5rem}
.words{color:var(--soft);max-width:46rem;margin-top:.3rem}
.facts{display:flex;flex-wrap:wrap;gap:.35rem 1.75rem;font-size:.875rem}.facts div{display:flex;gap:.5rem}
.facts dt{color:var(--faint);white-space:nowrap}
.part{border-top:1px solid var(--line);padding:.35rem 0}.part>summary{display:flex;align-items:center;gap:1rem;
cursor:pointer;padding:.6rem 0}
.part>summary::before,.list>summary::before,.figures>summary::before{content:"";width:.45em;height:.45em;flex:none;
display:inline-block;
border:solid var(--faint);border-width:0 2px 2px 0;transform:rotate(-45deg);margin:0 .55em .1em .15em}
.part>summary{gap:.35rem}[open]>summary::before{transform:rotate(45deg)}
summary{list-style:none}summary::-webkit-details-marker{display:none}
.part>summary h3{flex:1}.part>summary .strip{width:7rem;flex:none}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,28rem),1fr));gap:1rem;align-items:start;
margin:.25rem 0 1rem}
.card{background:var(--surface);border:1px solid var(--line);border-radius:10px;padding:.9rem 1rem;min-width:0;
break-inside:avoid}
.bars{width:100%;border-collapse:collapse;margin-top:.35rem;font-size:.8125rem;table-layout:fixed}
.bars th,.bars td{padding:.1rem 0;font-weight:400;text-align:left;vertical-align:middle}
.bars .c-name{width:7.2rem}.bars .c-num{width:4.4rem}.bars .c-chip{width:6.6rem}
.bars tbody th[scope=row]{padding-right:.5rem;line-height:1.25;color:var(--soft);overflow-wrap:anywhere}
.bars .num{padding-left:.4rem;text-align:right}.bars .chip-cell{padding-left:.45rem}
.bars .ours th,.bars .ours .num{color:var(--ink);font-weight:600}
.bars .group th{padding:.55rem 0 .15rem;color:var(--faint);font-size:.75rem}.bars .group b{color:var(--soft)}
.bars tbody:first-of-type .group th{padding-top:.15rem}
.bars .off td{color:var(--faint);overflow-wrap:anywhere}
.bars svg{display:block;width:100%;height:.95rem}
.rival .fill{fill:var(--rival)}.best .fill{fill:var(--best)}.ours .fill{fill:var(--pine)}.ours-trusted .fill{fill:var(--pine-2)}
.ours-fast .fill{fill:var(--pine-3)}.tail{fill:var(--line-strong)}.ours .tail{fill:var(--pine-2)}.then{fill:var(--faint);
opacity:.55}
.mark{fill:var(--line)}.note{font-size:.75rem;color:var(--faint);margin-top:.4rem}
.chip{display:inline-block;padding:.02rem .5rem;border-radius:1rem;font-size:.72rem;font-weight:600;white-space:nowrap;
font-variant-numeric:tabular-nums;background:var(--sunken);color:var(--soft)}
.chip.ahead{background:var(--ahead-soft);color:var(--ahead)}.chip.behind{background:var(--behind-soft);color:var(--behind)}
.figures{margin-bottom:.75rem}.figures>summary{cursor:pointer;color:var(--soft);font-size:.875rem;padding:.3rem 0;
width:max-content}
.suite table:not(.bars){border-collapse:collapse;font-size:.8125rem;background:var(--surface);min-width:100%}
.suite table:not(.bars) :is(th,td){padding:.3rem .65rem;border-bottom:1px solid var(--line);text-align:left;font-weight:400}
.suite table:not(.bars) thead th{color:var(--faint);position:sticky;top:0}.suite table:not(.bars) .num{text-align:right}
.figures tr:not(.first) td:first-child{color:var(--faint)}
.prose{max-width:46rem}.prose p{margin:.6rem 0}.prose dl div{display:flex;gap:1rem}.prose dt{width:4.5rem;font-weight:600}
main{padding-bottom:4rem}
`;

const charts = `
.chart svg[role=img]{display:block;width:100%;max-width:34rem;height:auto;margin-top:.3rem}
figcaption{font-size:.95rem;font-weight:600;line-height:1.35}
.grid{stroke:var(--line);stroke-width:1}.tick,.guide-name{font-size:10px;fill:var(--faint);font-variant-numeric:tabular-nums}
.guide{fill:none;stroke:var(--faint);stroke-width:1;stroke-dasharray:2 3}.guide-name{font-style:italic;
paint-order:stroke;stroke:var(--surface);stroke-width:3px}
.stroke{fill:none;stroke:var(--c);stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}.dot{fill:var(--c)}
.ours.stroke{stroke-width:2.75}.ours-default{--c:var(--pine)}.ours-trusted{--c:var(--pine-2)}.ours-fast{--c:var(--pine-3)}
.stroke.ours-trusted{stroke-dasharray:6 4}.stroke.ours-fast{stroke-dasharray:1.5 4}.dashed{stroke-dasharray:5 3}
${
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((at) => `.h${at}{--c:var(--h${at})}`).join(
    "",
  )
}
.legend{display:flex;flex-wrap:wrap;gap:.15rem .9rem;font-size:.78rem;color:var(--soft);margin-top:.4rem}
.legend li{display:flex;align-items:center;gap:.35rem}.legend svg{width:1.25rem;height:.5rem}
`;

const narrow = `
@media (max-width:40rem){
.bars .c-name{width:5.9rem}.bars .c-num{width:4.1rem}.bars .c-chip{width:6.2rem}
.by-suite{font-size:.875rem}.by-suite th,.by-suite td{padding:.5rem .35rem}.by-suite .num{white-space:normal}
.bars .chip{white-space:normal;border-radius:.6rem}
.by-suite .wide{display:none}
.part>summary .strip{width:3.5rem}.facts div{flex-direction:column;gap:0}.card{padding:.8rem .75rem}
}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
@media print{:root{color-scheme:light}.filter,nav,.skip{display:none}body{background:none;font-size:10pt}
.banner{background:none;color:#000;padding-top:0}.banner .quiet{color:#444}
details::details-content{content-visibility:visible!important;display:block!important;block-size:auto!important}
.figures{display:none}.card,.list li,tr{break-inside:avoid}.cards{grid-template-columns:1fr 1fr}}
`;

/** The whole style sheet. */
export const style: string = tokens + base + top + suites + charts + narrow;
