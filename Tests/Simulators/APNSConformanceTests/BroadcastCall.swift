import APNS
import APNSCore
import APNSSimulation
import Delivery
import Foundation
import Reactors

/// A request of the cases of broadcasts and channels, as our client sends it.
struct BroadcastCall {
  private enum Kind {
    case create(ChannelStorage)
    case storage(ChannelIdentifier)
    case delete(ChannelIdentifier)
    case list
    case push(PushRequest)
  }

  private let app: BundleIdentifier
  private let kind: Kind

  /// Nil when our types cannot express the request: a field that is malformed or missing, a body that APNs would refuse.
  init?(_ request: InspectedRequest) {
    let parts = request.path.split(separator: "/").map(String.init)
    guard parts.count == 4, let app = try? BundleIdentifier(parts[parts[0] == "4" ? 3 : 2]),
      let kind = parts[0] == "4" ? Self.broadcast(request, of: app) : Self.management(request, of: parts[3])
    else { return nil }
    (self.app, self.kind) = (app, kind)
  }

  private static func management(_ request: InspectedRequest, of subject: String) -> Kind? {
    switch (request.method, subject, channel(of: request)) {
    case ("POST", "channels", nil):
      let document = try? JSONDecoder().decode(PayloadObject.self, from: Data(request.body))
      return ChannelStorage.allCases.first { document == Self.document(of: $0) }.map { .create($0) }
    case ("GET", "channels", let channel?): return .storage(channel)
    case ("DELETE", "channels", let channel?): return .delete(channel)
    case ("GET", "all-channels", nil): return .list
    default: return nil
    }
  }

  private static func document(of storage: ChannelStorage) -> PayloadObject {
    ["message-storage-policy": .integer(Int64(storage.rawValue)), "push-type": "LiveActivity"]
  }

  private static func broadcast(_ request: InspectedRequest, of app: BundleIdentifier) -> Kind? {
    guard let destination = channel(of: request).map(PushDestination.channel),
      let expiration = field("apns-expiration", of: request).flatMap({ Int64($0) }),
      let priority = field("apns-priority", of: request).flatMap({ Int($0) }).flatMap(PushPriority.init(rawValue:)),
      let type = field("apns-push-type", of: request).flatMap(PushType.init(rawValue:)),
      let head = try? PushRequestHead(
        destination: destination, pushType: type, bundleIdentifier: app, priority: priority,
        expiration: expiration == 0 ? .attemptOnce : .until(unixSeconds: expiration),
        identifier: PushIdentifier(eventKind: "case", event: "e", recipient: "r", destination: destination)),
      head.path == request.path, request.method == "POST"
    else { return nil }
    return (try? PushRequest(head: head, body: request.body)).map { .push($0) }
  }

  private static func channel(of request: InspectedRequest) -> ChannelIdentifier? {
    field("apns-channel-id", of: request).flatMap { try? ChannelIdentifier($0) }
  }

  private static func field(_ name: String, of request: InspectedRequest) -> String? {
    request.fields.first { $0.name == name }?.value
  }
}

// How it ends.
extension BroadcastCall {
  /// Sends it, and looks at what the simulator has then.
  /// - Returns: the answer, nil for a success of the management; and what the client does about it.
  func send(
    to stand: Stand, _ findings: Findings, on reactor: isolated Reactor
  ) async throws -> (answer: AnswerKey?, code: ClientCode) {
    if case .push(let request) = kind { return try await send(request, to: stand, findings, on: reactor) }
    let channels = try await stand.channels()
    defer { channels.close(on: reactor) }
    do throws(APNSChannelsError) {
      try await manage(channels, of: stand, findings, on: reactor)
      return (nil, .done)
    } catch {
      guard case .answered(let answer) = error.attempt else { throw CaseFailure("\(error)") }
      return (AnswerKey(answer), ClientCode(ofBroadcast: error.disposition))
    }
  }

  private func manage(
    _ channels: APNSChannels, of stand: Stand, _ findings: Findings, on reactor: isolated Reactor
  ) async throws(APNSChannelsError) {
    switch kind {
    case .create(let storage):
      let channel = try await channels.create(in: app, of: .production, storage: storage, on: reactor)
      let found = stand.service.withRegistry { $0.channels[stand.name(of: channel, in: app)]?.policy.rawValue }
      findings.expect(found == storage.rawValue, "created with \(found ?? -1)")
    case .storage(let channel):
      let storage = try await channels.storage(of: channel, in: app, of: .production, on: reactor)
      let found = stand.service.withRegistry { $0.channels[stand.name(of: channel, in: app)]?.policy.rawValue }
      findings.expect(found == storage.rawValue, "read as \(storage)")
    case .delete(let channel):
      try await channels.delete(channel, in: app, of: .production, on: reactor)
      let isGone = stand.service.withRegistry { $0.channels[stand.name(of: channel, in: app)] == nil }
      findings.expect(isGone, "not deleted")
    case .list:
      let listed = try await channels.list(in: app, of: .production, on: reactor).map(\.text)
      let owner = ChannelName.Owner(environment: .production, bundle: app.text)
      let found = stand.service.withRegistry { $0.channels.identifiers(of: owner) }
      findings.expect(listed == found, "listed \(listed)")
    case .push: break
    }
  }

  private func send(
    _ request: PushRequest, to stand: Stand, _ findings: Findings, on reactor: isolated Reactor
  ) async throws -> (answer: AnswerKey?, code: ClientCode) {
    let client = try await stand.client(on: reactor)
    defer { client.close(on: reactor) }
    let first = stand.records.count
    let attempt = await client.send(request, to: .production, until: Reactor.now &+ 20_000_000_000, on: reactor)
    let identifiers = stand.records.dropFirst(first).map(\.identifier)
    findings.expect(identifiers == [request.head.identifier.text], "sent as \(identifiers)")
    guard case .answered(let answer) = attempt else { throw CaseFailure("\(attempt)") }
    return (AnswerKey(answer), ClientCode(ofBroadcast: attempt.disposition))
  }
}

extension Stand {
  /// Our management of channels.
  func channels() async throws -> APNSChannels {
    APNSChannels(
      endpoints: [.production: APNSEndpoint(host: "127.0.0.1", port: try port())], context: try context(),
      tokens: try await providerTokens())
  }

  fileprivate func name(of channel: ChannelIdentifier, in app: BundleIdentifier) -> ChannelName {
    ChannelName(channel.text, of: ChannelName.Owner(environment: .production, bundle: app.text))
  }
}

extension ClientCode {
  /// To drop a channel is the way in which a push to it is never sent again.
  init(ofBroadcast disposition: PushDisposition) {
    let code = ClientCode(disposition)
    self = code == .drop ? .never : code
  }
}
