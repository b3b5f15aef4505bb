// Which texts of a column came into sight, and when they were painted for sure.
//
// A message that an animation frame posts arrives when that frame was drawn, by whichever callback:
// then the cells are read, and layout is clean. The next animation frame gives them their time,
// because only by then has the one before gone to the screen. That is up to 17 ms later than it was.
globalThis.witness = (() => {
  const seen = new Set();
  const drawn = new MessageChannel();
  let column = '';
  let fresh = [];
  let sights = [];

  const inSight = () => {
    const area = document.querySelector('.ag-grid-viewport')?.getBoundingClientRect();
    if (!area) return [];
    const cells = document.querySelectorAll(`.ag-cell[col-id="${column}"]`);
    return Array.from(cells).filter((cell) => {
      const { top, height } = cell.getBoundingClientRect();
      const middle = top + height / 2;
      return middle > area.top && middle < area.bottom;
    });
  };

  drawn.port1.onmessage = () => {
    const texts = inSight().map((cell) => cell.textContent);
    fresh = texts.filter((text) => !seen.has(text));
    for (const text of fresh) seen.add(text);
  };

  const frame = () => {
    if (fresh.length) sights.push([Date.now(), fresh]);
    fresh = [];
    drawn.port2.postMessage(null);
    requestAnimationFrame(frame);
  };

  // Looks from the first call on; gives what has come since the last one.
  return (wanted) => {
    if (!column) requestAnimationFrame(frame);
    column = wanted;
    const news = sights;
    sights = [];
    return news;
  };
})();
