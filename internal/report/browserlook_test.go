package report

// lookJS unfolds everything and measures the page. It runs through the debugger, which the page's content security
// policy does not bind. Contrast is that of WCAG 2.1 (relative luminance and ratio as defined there) for every element
// with a text of its own, on the nearest ground below it that is opaque; pictures have tests of their own.
const lookJS = `(() => {
  for (const d of document.querySelectorAll('details')) d.open = true;
  const root = document.documentElement;
  const name = e => e.tagName.toLowerCase() + (e.className && e.className.baseVal === undefined ? '.' + ` +
	`e.className : '') + ' "' + (e.textContent || '').trim().slice(0, 30) + '"';
  const colour = s => { const m = s.match(/[\d.]+/g).map(Number); return {r: m[0], g: m[1], b: m[2], a: m.length ` +
	`> 3 ? m[3] : 1}; };
  const over = (f, g) => ({r: f.r * f.a + g.r * (1 - f.a), g: f.g * f.a + g.g * (1 - f.a), b: f.b * f.a + g.b * ` +
	`(1 - f.a), a: 1});
  const canvas = matchMedia('(prefers-color-scheme: dark)').matches ? {r: 18, g: 18, b: 18, a: 1} : {r: 255, g: ` +
	`255, b: 255, a: 1};
  const ground = e => {
    const layers = [];
    for (; e; e = e.parentElement) {
      const c = colour(getComputedStyle(e).backgroundColor);
      if (c.a > 0) layers.push(c);
      if (c.a === 1) break;
    }
    return layers.reverse().reduce((g, f) => over(f, g), canvas);
  };
  const linear = v => (v /= 255) <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
  const light = c => 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
  const ratio = e => {
    const g = ground(e), f = over(colour(getComputedStyle(e).color), g);
    const a = light(f), b = light(g);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const shown = e => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0 && r.right > 0; };
  const scrolls = e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
  const boxed = e => { for (e = e.parentElement; e; e = e.parentElement) if (scrolls(e)) return true; return false; };
  const all = [...document.body.querySelectorAll(':not(svg *)')];
  const html = all.filter(e => !(e instanceof SVGElement) && shown(e));
  const texts = html.filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim() !== ''));
  const verdict = document.querySelector('.verdict span');
  const keys = 'a[href], button, input, summary, [tabindex]';
  return {
    Width: innerWidth,
    Scroll: Math.max(root.scrollWidth, document.body.scrollWidth),
    Wide: all.filter(e => shown(e) && (e.getBoundingClientRect().right > innerWidth + 1 || e.clientWidth > 0 && ` +
	`e.getBoundingClientRect().left + e.scrollWidth > innerWidth + 1 && !scrolls(e)) && !boxed(e)).reverse().slice(0, ` +
	`5).map(name),
    Faint: texts.filter(e => ratio(e) < 4.5).slice(0, 5).map(e => ratio(e).toFixed(2) + ' of ' + name(e)),
    Dark: light(ground(document.body)) < 0.2,
    Verdict: verdict ? ratio(verdict) : 0,
    Stuck: html.filter(e => scrolls(e) && e.scrollWidth > e.clientWidth + 1 && !e.matches(keys) && ` +
	`!e.querySelector(keys)).slice(0, 5).map(name),
    Loaded: performance.getEntriesByType('resource').map(r => r.name),
    Text: document.body.innerText,
  };
})()`
