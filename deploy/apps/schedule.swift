// An app whose device shows the texts of slots by itself, also without a network. ScheduleKeeper keeps the soonest 64 as local
// notifications, and leaves the app's other ones alone.

let center = SystemNotificationCenter()
let queue = TelemetryQueue(push) { await tokens.deviceToken }
let keeper = ScheduleKeeper(push, scheduler: center, queue: queue)
let categories = NotificationCategories(push, registry: center)
let responder = NotificationResponder(queue, categories: categories)
let permission = NotificationPermission(push, center: center)

try await permission.register(DeviceRegistration(deviceToken: deviceToken))  // at each start
await categories.refresh()
try await keeper.keep()
await queue.flush()

// The user switches on something that notifies: permission.ask(registering: device), then keeper.keep().
// In a task each, from the start on: keeper.followSystem() for changes of the zone, queue.followNetwork().
// A background push: if PushContent(userInfo).announcesSchedule { await keeper.trigger() }
// A tap or a button: if let route = await responder.handle(NotificationResponse(response)) { open(route) }
// Before the log-out: keeper.clear()
