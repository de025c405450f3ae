public import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

// Slots: texts at times of the user's day, which the app shows by itself or gets as pushes.
extension PushServiceClient {
  /// Reads what this device is to show. ``ScheduleKeeper`` does it and arms the rows. An app that arms them itself calls it
  /// at each start and for each background push whose `type` is `schedule_changed`, arms each row as a local notification
  /// under its identifier, removes those that are gone, and reports each as ``SlotEvent/Code/armed``.
  /// - Parameters:
  ///   - days: from today on, 1 to 7.
  ///   - max: the number of rows, 1 to 64.
  ///   - deviceToken: of this device. The service then knows how exact its alarms are.
  ///   - known: the schedule that the app has.
  /// - Returns: the schedule; nil when it is the known one.
  public func schedule(
    days: Int = 7, max: Int = 64, deviceToken: Data? = nil, unless known: SlotSchedule? = nil
  ) async throws(PushServiceError) -> SlotSchedule? {
    var query = [URLQueryItem(name: "days", value: "\(days)"), URLQueryItem(name: "max", value: "\(max)")]
    if let deviceToken {
      query.append(URLQueryItem(name: "device_token", value: DeviceRegistration.text(of: deviceToken)))
    }
    guard let (found, tag) = try await read(SlotSchedule.self, "schedule", query, unless: known?.tag) else {
      return nil
    }
    var schedule = found
    schedule.tag = tag
    return schedule
  }

  /// Reads the feature flags and the categories to register.
  /// - Parameter known: the configuration that the app has.
  /// - Returns: the configuration; nil when it is the known one.
  public func configuration(
    unless known: SlotConfiguration? = nil
  ) async throws(PushServiceError) -> SlotConfiguration? {
    guard let (found, tag) = try await read(SlotConfiguration.self, "config", unless: known?.tag) else { return nil }
    var configuration = found
    configuration.tag = tag
    return configuration
  }

  /// When the user gets what of a campaign.
  public func slots(of campaign: String) async throws(PushServiceError) -> UserSlots {
    try JSONDecoder().answer(try await send("GET", ["v1", "slots", campaign]))
  }

  /// Replaces the user's slots in a campaign.
  /// - Returns: what the device is to show from now on.
  public func choose(_ slots: UserSlots, of campaign: String) async throws(PushServiceError) -> SlotSchedule {
    let content = JSONEncoder().content(slots)
    return try JSONDecoder().answer(try await send("PUT", ["v1", "slots", campaign], content))
  }

  /// Asks for a push of what a slot says next, at most once a minute.
  @discardableResult
  public func deliver(slot: String, of campaign: String) async throws(PushServiceError) -> SlotDelivery {
    try JSONDecoder().answer(try await send("POST", ["v1", "slots", campaign, slot, "deliver"], tries: 1))
  }

  /// Reports an action of a notification. Keep a failed report and send it again: the service counts it once.
  /// - Returns: the campaign's answer.
  @discardableResult
  public func report(_ action: SlotAction) async throws(PushServiceError) -> SlotActionAnswer {
    try JSONDecoder().answer(try await send("POST", ["v1", "actions"], JSONEncoder().content(action)))
  }

  /// Reports what the device did, in the order in which it happened. Keep failed reports and send them again: the service
  /// counts each once.
  /// - Parameter events: at most 100.
  @discardableResult
  public func report(_ events: [SlotEvent]) async throws(PushServiceError) -> SlotEventReceipt {
    let content = JSONEncoder().content(["events": events])
    return try JSONDecoder().answer(try await send("POST", ["v1", "telemetry"], content))
  }

  /// Reads a document unless it has an entity tag; the tag of what was read, empty without one.
  private func read<Document: Decodable>(
    _ type: Document.Type, _ name: String, _ query: [URLQueryItem] = [], unless tag: String?
  ) async throws(PushServiceError) -> (Document, String)? {
    var request = ServiceRequest(method: "GET", path: ["v1", name], query: query)
    if let tag, !tag.isEmpty { request.fields["If-None-Match"] = tag }
    let (content, answer) = try await exchange(request)
    guard answer.statusCode != 304 else { return nil }
    return (try JSONDecoder().answer(content), answer.value(forHTTPHeaderField: "ETag") ?? "")
  }
}

extension JSONDecoder {
  /// The content of a success. One that cannot be read comes from an incompatible service.
  fileprivate func answer<Answer: Decodable>(_ content: Data) throws(PushServiceError) -> Answer {
    guard let answer = try? decode(Answer.self, from: content) else { throw PushServiceError(.refused) }
    return answer
  }
}
