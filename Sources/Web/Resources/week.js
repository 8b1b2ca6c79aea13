// Lets a post of the coming week be moved within its day, by pointer or by keys; it fills in the form, which does the same
// without this file.
const DAY = 1440, STEP = 5, LEAP = 60, REACH = 22;
const STROKES = { ArrowLeft: -STEP, ArrowDown: -STEP, ArrowRight: STEP, ArrowUp: STEP, PageDown: -LEAP, PageUp: LEAP };
const clock = minute => [Math.floor(minute / 60), minute % 60].map(part => String(part).padStart(2, '0')).join(':');

// The handle is there only where scripts run, and so is its style.
const style = new CSSStyleSheet();
style.replaceSync(`
  .lanes { position: relative; touch-action: pan-y }
  .grip { position: absolute; width: 1.75rem; height: 1.75rem; margin: -.875rem 0 0 -.875rem; border: 2px solid var(--bot); border-radius: 50%; cursor: ew-resize }
  .grip.moved { background: var(--bot) }
  .grip.moved::after { content: attr(data-time); position: absolute; white-space: nowrap; bottom: 100%; left: 0; padding: 0 .25rem; background: var(--press); color: var(--press-ink); font-size: .8125rem; border-radius: .25rem }
  .grip.late::after { left: auto; right: 0 }
`);
document.adoptedStyleSheets.push(style);

// One handle, over the post that the form has chosen. A new time is sent when it is let go, or by Enter.
function arm(lanes, form) {
  const [top, lane, left, below] = ['top', 'lane', 'left', 'below'].map(name => Number(lanes.dataset[name]));
  const { slot, time } = form.elements;
  const handle = document.createElement('span');
  let minute = 0, isHeld = false;
  const chosen = () => slot.selectedOptions[0];
  const start = () => Number(chosen().dataset.minute);
  const least = () => Number(chosen().dataset.least ?? 0);

  function show(wanted) {
    minute = Math.min(DAY - 1, Math.max(least(), wanted));
    handle.style.left = `${left + (100 - left) * minute / DAY}%`;
    handle.setAttribute('aria-valuenow', minute);
    handle.setAttribute('aria-valuetext', clock(minute));
    handle.dataset.time = clock(minute);
    handle.classList.toggle('moved', minute !== start());
    handle.classList.toggle('late', minute > DAY / 2);
  }
  function choose() {
    handle.style.top = `${top + lane * Number(chosen().dataset.lane) + below}px`;
    handle.setAttribute('aria-label', form.dataset.sayPost.replace('{0}', () => chosen().text));
    handle.setAttribute('aria-valuemin', least());
    show(start());
  }
  function keep() {
    if (minute === start()) return;
    time.value = clock(minute);
    form.requestSubmit();
  }
  // The minute at a place, and how many minutes a pixel is.
  function measure(x) {
    const box = lanes.getBoundingClientRect(), from = box.left + box.width * left / 100;
    const each = DAY / (box.right - from);
    return { each, minute: (x - from) * each };
  }
  function nearest(x, y) {
    const { each, minute } = measure(x), row = Math.floor((y - lanes.getBoundingClientRect().top - top) / lane);
    const far = option => Math.abs(Number(option.dataset.minute) - minute);
    const near = [...slot.options].filter(option => Number(option.dataset.lane) === row && far(option) <= REACH * each);
    return near.sort((one, other) => far(one) - far(other))[0];
  }

  handle.className = 'grip';
  handle.tabIndex = 0;
  for (const [name, value] of Object.entries({ role: 'slider', 'aria-describedby': 'drag', 'aria-valuemax': DAY - 1 })) {
    handle.setAttribute(name, value);
  }
  choose();
  lanes.append(handle);
  document.getElementById('drag').hidden = false;

  slot.addEventListener('change', choose);
  lanes.addEventListener('pointerdown', event => {
    const option = event.button === 0 && nearest(event.clientX, event.clientY);
    if (!option) return;
    event.preventDefault();
    option.selected = true;
    choose();
    handle.focus();
    isHeld = true;
    lanes.setPointerCapture(event.pointerId);
  });
  lanes.addEventListener('pointermove', event => {
    if (isHeld) show(Math.round(measure(event.clientX).minute / STEP) * STEP);
  });
  lanes.addEventListener('pointerup', () => { if (isHeld) { isHeld = false; keep() } });
  lanes.addEventListener('pointercancel', () => { isHeld = false; show(start()) });
  handle.addEventListener('blur', () => { if (!isHeld) show(start()) });
  handle.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in STROKES) show(minute + STROKES[event.key]);
    else if (event.key === 'Enter') keep();
    else if (event.key === 'Escape') { isHeld = false; show(start()) }
    else return;
    event.preventDefault();
  });
}

// Also after the page was renewed.
function look() {
  const lanes = document.querySelector('.lanes'), form = document.getElementById('move');
  if (lanes && form && !lanes.querySelector('.grip')) arm(lanes, form);
}
look();
new MutationObserver(look).observe(document.getElementById('page'), { childList: true, subtree: true });
