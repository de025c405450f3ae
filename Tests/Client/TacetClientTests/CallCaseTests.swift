import Foundation
import Testing

@testable import TacetClient

@Suite("Shared cases of calls")
struct CallCaseTests {
  private let server = CaseServer()
  private let sleeps = ManualSleep()

  @Test("a call is made as by every client", arguments: SharedCase.all("call-cases"))
  func call(shared: SharedCase) async throws {
    sleeps.open()
    let hasToken = shared.given["token"] != .null
    let client = PushServiceClient(
      origin: URL(string: "https://push.example.com")!, transport: server,
      token: {
        guard hasToken else { throw URLError(.userAuthenticationRequired) }
        return "t"
      }, sleep: { [sleeps] in try await sleeps.sleep($0) })
    for step in shared.steps {
      server.script(["": step["server"] ?? .null])
      var result: JSON?
      var failure: PushServiceError?
      do { result = try await perform(step, client) } catch let error as PushServiceError { failure = error }
      check(try #require(step["expect"]), result, failure)
    }
  }

  private func check(_ expect: JSON, _ result: JSON?, _ failure: PushServiceError?) {
    let requests = expect["requests"]?.list ?? []
    #expect(server.asked.map(\.line) == requests.map { $0["line"]?.text })
    #expect(server.asked.map(\.content) == requests.map { $0["body"] })
    #expect(server.asked.map(\.tag) == requests.map { $0["if_none_match"]?.text })
    #expect(failure?.code == expect["error"]?.text.map(Self.code))
    if let field = expect["field"]?.text { #expect(failure?.field == field) }
    if let pauses = expect["pauses"]?.list { #expect(sleeps.asked.map(JSON.init) == pauses) }
    if let expected = expect["result"]?.members {
      #expect(result?.members?.filter { expected[$0.key] != nil } == expected)
    } else if expect["result"] != nil {
      #expect(result == .null)
    }
  }

  static func code(_ word: String) -> PushServiceError.Code {
    let codes: [String: PushServiceError.Code] = [
      "unreachable": .unreachable, "unavailable": .unavailable, "unauthorized": .unauthorized,
      "forbidden": .forbidden, "not_found": .notFound, "refused": .refused, "no_token": .noToken,
    ]
    guard let code = codes[word] else { preconditionFailure("unknown error \(word)") }
    return code
  }

  /// What the call returns, as JSON; null for nothing.
  private func perform(_ step: JSON, _ client: PushServiceClient) async throws -> JSON {
    let args = Arguments(values: step["args"]?.members ?? [:])
    switch step["do"]?.text {
    case "register": try await client.register(args.device())
    case "removeDevice": try await client.removeDevice(token: args.data("token"))
    case "markRead":
      let receipt = try await client.markRead(
        conversation: args.id("conversation"), upTo: try? args.id("up_to"), deviceToken: try? args.data("device_token"))
      return .object(["badge": .number(Double(receipt.badge)), "read": .number(Double(receipt.read))])
    case "active": try await client.active()
    case "opened": try await client.opened(args.id("id"))
    case "look": try await client.look(at: args.surface())
    case "leave": try await client.leave(args.surface())
    default: return try await performAboutSlots(step["do"]?.text, args, client)
    }
    return .null
  }

  private func performAboutSlots(
    _ name: String?, _ args: Arguments, _ client: PushServiceClient
  ) async throws -> JSON {
    switch name {
    case "schedule":
      let schedule = try await client.schedule(
        days: args.values["days"]?.number ?? 7, max: args.values["max"]?.number ?? 64,
        deviceToken: try? args.data("device_token"), unless: args.known(#"{"rows":[],"settings_hint":false,"tag":TAG}"#)
      )
      return try schedule.map(Self.json) ?? .null
    case "configuration":
      let known = try args.values["tag"].map { tag in
        var known = try JSONDecoder().decode(
          SlotConfiguration.self, from: Data(#"{"flags":{},"channels":[],"categories":[]}"#.utf8))
        known.tag = tag.text ?? ""
        return known
      }
      return try await client.configuration(unless: known).map(Self.json) ?? .null
    case "slots": return try Self.json(try await client.slots(of: args.text("campaign")))
    case "choose":
      let slots = try JSONDecoder().decode(UserSlots.self, from: try #require(args.values["slots"]).data)
      return try Self.json(try await client.choose(slots, of: args.text("campaign")))
    case "deliver":
      let delivery = try await client.deliver(slot: args.text("slot"), of: args.text("campaign"))
      return .object(["queued": .boolean(delivery.queued), "reason": delivery.reason.map { .string($0) } ?? .null])
    case "reportAction":
      let action = try JSONDecoder().decode(SlotAction.self, from: try JSON.object(args.values).data)
      return .object(["streak": try await client.report(action).streak.map { .number(Double($0)) } ?? .null])
    case "reportEvents":
      let events = try JSONDecoder().decode([SlotEvent].self, from: try #require(args.values["events"]).data)
      let receipt = try await client.report(events)
      return .object([
        "accepted": .number(Double(receipt.accepted)), "duplicates": .number(Double(receipt.duplicates)),
        "rejected": .array(receipt.rejected.map { .object(["index": .number(Double($0.index))]) }),
      ])
    default:
      Issue.record("unknown call \(name ?? "")")
      return .null
    }
  }

  private static func json(_ value: some Encodable) throws -> JSON { try JSON(JSONEncoder().encode(value)) }
}

extension JSON {
  fileprivate init(_ duration: Duration) {
    self = .number(Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18)
  }
}

/// The arguments of a call by their names.
private struct Arguments {
  let values: [String: JSON]

  func text(_ name: String) throws -> String { try #require(values[name]?.text) }
  func id(_ name: String) throws -> UUID {
    guard let id = values[name]?.text.flatMap(UUID.init) else { throw CocoaError(.coderValueNotFound) }
    return id
  }
  func data(_ name: String) throws -> Data {
    guard let data = values[name]?.text.flatMap(DeviceRegistration.token) else { throw CocoaError(.coderValueNotFound) }
    return data
  }
  func surface() throws -> Surface { Surface(kind: try text("kind"), id: try id("id")) }

  /// A document that has the argument `tag` as its entity tag; nil without it.
  func known<Document: Decodable>(_ text: String) throws -> Document? {
    guard let tag = values["tag"] else { return nil }
    let tagText = String(decoding: try JSONEncoder().encode(tag), as: UTF8.self)
    return try JSONDecoder().decode(
      Document.self, from: Data(text.replacingOccurrences(of: "TAG", with: tagText).utf8))
  }

  func device() throws -> DeviceRegistration {
    DeviceRegistration(
      deviceToken: try data("token"),
      environment: values["environment"]?.text.flatMap(DeviceRegistration.Environment.init),
      app: values["app"]?.text, platform: values["platform"]?.text, locale: values["locale"]?.text,
      timeZone: values["time_zone"]?.text,
      authorization: values["authorization"]?.text.flatMap(DeviceRegistration.Authorization.init))
  }
}
