// Shows pushed notifications, also while no page is open. It keeps no page and answers no request.
addEventListener('install', () => skipWaiting());
addEventListener('activate', event => event.waitUntil(clients.claim()));

addEventListener('push', event => {
  const message = event.data.json();
  const actions = message.buttons.map((button, index) => ({ action: String(index), title: button.label }));
  event.waitUntil(registration.showNotification(message.title, {
    body: message.text, tag: message.tag, renotify: true, icon: '/icon-192.png', actions, data: message,
  }));
});

// A button acts without opening a page; what did not work is said, with a way to the page.
async function press(message, button) {
  const answer = await fetch(button.path, { method: 'POST', credentials: 'omit' }).catch(() => null);
  if (answer?.ok) return;
  const body = answer ? message.refused : message.unreached;
  await registration.showNotification(`${button.label}: ${message.title}`, {
    body, tag: message.tag, icon: '/icon-192.png', data: message,
  });
}

async function open(path) {
  const pages = await clients.matchAll({ type: 'window' });
  const page = pages.find(page => new URL(page.url).pathname === path);
  return page ? page.focus() : clients.openWindow(path);
}

addEventListener('notificationclick', event => {
  const message = event.notification.data;
  const button = message.buttons[event.action];
  event.notification.close();
  event.waitUntil(event.action !== '' && button ? press(message, button) : open(message.open));
});
