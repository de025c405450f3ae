// Run in the browser's own window: watches the windows in which Firefox shows notifications.
(() => {
  const history = []
  const visible = new Map()
  const waiting = new Set()
  const changed = () => { for (const look of [...waiting]) look() }

  const appeared = win => {
    const id = name => win.document.getElementById(name)
    const shown = { title: id('alertTitleLabel').getAttribute('value'), text: id('alertTextLabel').textContent }
    history.push(shown)
    visible.set(win, shown)
    win.addEventListener('unload', () => { visible.delete(win); changed() }, { once: true })
    changed()
  }
  Services.ww.registerNotification((win, topic) => {
    if (topic !== 'domwindowopened') return
    // Before the window's own script reads it: notifications stay until they are closed.
    win.addEventListener('load', () => { win.gRequireInteraction = true }, { once: true })
    win.addEventListener('AlertActive', () => appeared(win), { once: true })
  })

  const find = text => {
    for (const [win, shown] of visible) if (shown.text.includes(text)) return win
    throw new Error(`no notification says ${text}`)
  }

  window.notificationScreen = {
    history: () => history,
    visible: () => [...visible.values()],
    // Resolves when the condition holds, with its value; with null after so many milliseconds.
    await: (condition, milliseconds) => new Promise(resolve => {
      const end = value => {
        waiting.delete(look)
        clearTimeout(timer)
        resolve(value)
      }
      const look = () => {
        const found = condition(history, [...visible.values()])
        if (found) end(found)
      }
      const timer = setTimeout(() => end(null), milliseconds)
      waiting.add(look)
      look()
    }),
    // A click of the mouse in the middle of an element of the notification's window.
    click(text, element) {
      const win = find(text)
      const box = win.document.getElementById(element).getBoundingClientRect()
      for (const type of ['mousemove', 'mousedown', 'mouseup'])
        win.synthesizeMouseEvent(type, box.x + box.width / 2, box.y + box.height / 2, { button: 0, clickCount: 1 })
      return true
    },
    // The notification's window as a PNG file, in base64.
    async picture(text) {
      const bitmap = await find(text).browsingContext.currentWindowGlobal.drawSnapshot(null, 2, 'white')
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
      canvas.getContext('2d').drawImage(bitmap, 0, 0)
      return new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer()).toBase64()
    },
  }
  return true
})()
