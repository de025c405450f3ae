internal import Campaigns
internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Operations
internal import PushRules
internal import PushStore
internal import Reactors

/// `GET /v1/schedule`: what a device is to show by itself.
enum ScheduleRoute {
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>) {
    group.addForClients(.get, "/v1/schedule", load: .documentRead) { user, request, reactor in
      let query = try ScheduleQuery(request.head)
      let rows = try await services.value(on: reactor).slotScheduler.schedule(
        of: user, days: query.days, rowsMax: query.rowsMax, deviceToken: query.deviceToken, on: reactor)
      return request.conditionalAnswer(ScheduleAnswer.json(rows))
    }
  }
}

struct ScheduleQuery: Equatable {
  static let (daysMax, rowsMax) = (7, 64)

  /// From today on.
  let days: Int
  let rowsMax: Int
  /// In lower case; nil when unknown.
  let deviceToken: String?

  init(_ head: RequestHead) throws(ProblemDetails) {
    let query = try StrictQuery(head, known: ["days", "max", "device_token"])
    days = try Self.number(query, "days", max: Self.daysMax)
    rowsMax = try Self.number(query, "max", max: Self.rowsMax)
    guard let text = query["device_token"] else {
      deviceToken = nil
      return
    }
    guard let token = try? DeviceToken(text) else {
      throw .content("device_token", "device_token must be \(DeviceToken.demand).")
    }
    deviceToken = token.hexadecimal
  }

  /// 1 to a bound, which is also the default, in decimal digits.
  private static func number(_ query: StrictQuery, _ name: String, max: Int) throws(ProblemDetails) -> Int {
    guard let text = query[name] else { return max }
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(text),
      (1...max).contains(number)
    else { throw .content(name, "\(name) must be a number from 1 to \(max).") }
    return number
  }
}

enum ScheduleAnswer {
  /// The tolerance of devices whose alarms are inexact.
  private static let wideTolerance = 600

  static func json(_ rows: [ScheduledRow]) -> [UInt8] {
    var object = PayloadObject()
    object["settings_hint"] = .boolean(rows.contains { $0.toleranceSeconds >= wideTolerance })
    object["rows"] = .array(rows.map { .object(document($0)) })
    return object.encoded()
  }

  private static func document(_ row: ScheduledRow) -> PayloadObject {
    [
      "identifier": .string(row.identifier), "campaign": .string(row.campaign), "slot": .string(row.slot),
      "fire_date": .string(row.fireDate), "fire_at": .string(TimeText.instant(row.fireAt)),
      "local_time": .string(row.localTime), "title": .string(row.text.title), "body": .string(row.text.body),
      "category": .string(row.text.category), "thread_id": .string(row.threadID), "data": .object(data(of: row)),
      "tolerance_seconds": .integer(Int64(row.toleranceSeconds)),
    ]
  }

  /// The custom members of the same row's push.
  private static func data(of row: ScheduledRow) -> PayloadObject {
    let stored = try? JSONDecoder().decode(PayloadObject.self, from: Data(row.text.data.utf8))
    var data = PayloadObject()
    data["type"] = .string(row.campaign)
    for (key, value) in stored?.members ?? [] { data[key] = value }
    return data
  }
}
