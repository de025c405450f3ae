public import Foundation

/// A notification that the device shows by itself at one moment.
public struct LocalNotification: Hashable, Sendable {
  /// Of the request. A push of the same row has it too, so a device that gets both shows one.
  public let identifier: String
  /// The first line.
  public let title: String
  /// The text.
  public let body: String
  /// The category, one of ``SlotConfiguration/categories``.
  public let category: String
  /// The thread.
  public let threadID: String
  /// The custom members of a push of it.
  public let data: [String: NotificationValue]
  /// How late or early it may be shown, in seconds.
  public let toleranceSeconds: Int
  /// When to show it.
  public let date: Date
  /// The same on the device's clock, from the year to the second, without a zone: for a trigger that does not repeat.
  public let components: DateComponents
  private let renderedAt: String?

  /// A row of the schedule on a device in a zone; nil when its time has no form.
  init?(_ row: ScheduledNotification, in zone: TimeZone) {
    guard let time = LocalTime(row.localTime) else { return nil }
    identifier = row.identifier
    title = row.title
    body = row.body
    category = row.category
    threadID = row.threadID
    data = row.data
    toleranceSeconds = row.toleranceSeconds
    renderedAt = row.renderedAt
    date = time.date(in: zone)
    // Of the moment, not of the text: the system finds no time for a text that the clocks skip.
    components = Calendar.gregorian(in: zone).dateComponents(
      [.year, .month, .day, .hour, .minute, .second], from: date)
  }

  /// The custom members as property list values. ``PushContent`` reads them.
  public var userInfo: [AnyHashable: Any] {
    data.reduce(into: [:]) { members, member in
      switch member.value {
      case .string(let text): members[member.key] = text
      case .integer(let number): members[member.key] = number
      case .boolean(let truth): members[member.key] = truth
      case .other: break
      }
    }
  }

  /// What the system holds of it, to be compared after a restart.
  var armed: ArmedNotification {
    ArmedNotification(
      title: title, body: body, category: category, threadID: threadID, data: data, toleranceSeconds: toleranceSeconds,
      date: date, renderedAt: renderedAt)
  }
}

/// What the system holds of a notification.
struct ArmedNotification: Hashable, Sendable, Codable {
  let title: String
  let body: String
  let category: String
  let threadID: String
  let data: [String: NotificationValue]
  let toleranceSeconds: Int
  let date: Date
  let renderedAt: String?
}

/// Where notifications are armed: `UNUserNotificationCenter`, or a test's list.
public protocol LocalScheduler: Sendable {
  /// What the app may show now.
  func authorization() async -> DeviceRegistration.Authorization

  /// The identifiers of all requests that wait for their time, those of the app's other parts too.
  func pending() async -> [String]

  /// Adds a request, in the place of one with the same identifier.
  /// - Throws: when the system does not take it.
  func arm(_ notification: LocalNotification) async throws(ArmingError)

  /// Removes requests that wait for their time.
  func cancel(_ identifiers: [String]) async
}

/// Why the system did not take a request.
public enum ArmingError: Error, Hashable, Sendable {
  /// The app may not show notifications.
  case denied
  /// The system cannot show this one.
  case unusable
}

/// A moment on a device's clock in any zone, such as `2026-11-22T08:00:00`.
struct LocalTime: Hashable, Sendable {
  /// Seconds since 1970 if the zone were UTC.
  private let seconds: Int

  /// Nil for a text of another form, and for a day or time that does not exist.
  init?(_ text: String) {
    let bytes = Array(text.utf8.prefix(20))
    guard bytes.count == 19, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] == 0x54, bytes[13] == 0x3A, bytes[16] == 0x3A
    else { return nil }
    func number(_ range: Range<Int>) -> Int? {
      bytes[range].reduce(Int?(0)) { number, byte in
        guard let number, (0x30...0x39).contains(byte) else { return nil }
        return number * 10 + Int(byte - 0x30)
      }
    }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
      let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
      year >= 1970, hour < 24, minute < 60, second < 60
    else { return nil }
    let parts = DateComponents(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    let calendar = Calendar.gregorian(in: .gmt)
    guard let date = calendar.date(from: parts),
      calendar.dateComponents([.year, .month, .day], from: date)
        == DateComponents(year: year, month: month, day: day)
    else { return nil }
    seconds = Int(date.timeIntervalSince1970)
  }

  /// The moment in a zone. A time that the clocks skip moves on by the gap; one that they show twice is the first
  /// (RFC 5545 §3.3.5).
  func date(in zone: TimeZone) -> Date {
    let local = Date(timeIntervalSince1970: Double(seconds))
    // Days away, so that at most one change of the clocks is between the two.
    let offsets = [-86_400.0, 86_400.0].map { zone.secondsFromGMT(for: local.addingTimeInterval($0)) }
    let dates = offsets.map { local.addingTimeInterval(-Double($0)) }
    let real = zip(offsets, dates).filter { zone.secondsFromGMT(for: $1) == $0 }.map(\.1)
    return real.min() ?? dates[0]
  }
}

extension Calendar {
  /// The calendar of the service's days.
  static func gregorian(in zone: TimeZone) -> Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    return calendar
  }
}
