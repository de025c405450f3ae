import Foundation
import FoundationNetworking
import Simulators
import TestLogs
import TestPostgres
import TestProcesses
import TestRepository
import Testing

/// `SHADOW`, beside a sender of the usual recipe (deploy/lib/demo/shadow-sender.sql).
@Suite("A shadow beside another sender", .serialized)
struct ShadowTests {
  @Test("decides as the service, connects to no push service, and joins with the other's log by message and user")
  func report() async throws {
    let services = try DeafServer()
    try await ServiceScene.play(extra: Self.settings(reaching: services)) { scene, service in
      let chat = try await ShadowChat(scene)
      let sender = try UsualSender(scene)
      defer { sender.end() }
      try await scene.wait(
        for: "1", to: "select count(*) from pg_class where oid = to_regclass('public.push_attempts')")
      let messages = [try await chat.say(), try await chat.say()]
      try await scene.wait(for: "8", to: "select count(*) from public.push_attempts")

      let report = try await scene.sql(
        """
        select
          case when o.message_id is null then 'only Tacet pushed' when l.reason = 'shadow' then 'both pushed'
            else 'only the other pushed' end collate "C",
          l.reason collate "C", count(*)
        from tacet.push_log l
        full join (select distinct message_id, user_id from push_attempts where status = 'sent') o
          on o.message_id = l.subject_id and o.user_id = l.user_id
        where o.message_id is not null or l.reason = 'shadow'
        group by 1, 2 order by 1, 2
        """)
      #expect(
        report == """
          both pushed|shadow|2
          only Tacet pushed|shadow|4
          only the other pushed|already_read|2
          only the other pushed|muted|2
          """)

      let explained = try await scene.explain(messages[0], user: chat.away)
      #expect(explained.contains("Shadow: would have been sent to 1 device"), "\(explained)")
      #expect(explained.contains("shadow: the push for device"))
      try await expectLoud(service, in: scene)
      #expect(!services.wasCalled, "no connection to a push service was opened")
    }
  }

  private static func settings(reaching services: DeafServer) -> [String: String] {
    let origin = "https://127.0.0.1:\(services.port)"
    return [
      "SHADOW": "true", "APNS_URL": origin, "APNS_SANDBOX_URL": origin, "SUPPRESSION_WINDOW_SECONDS": "15",
      "SERVICE_KEY": "the-service-key-of-the-tests-long-enough",
    ]
  }

  /// An operator who looks anywhere sees that nothing is sent.
  private func expectLoud(_ service: RunningService, in scene: ServiceScene) async throws {
    _ = try await service.process.line(containing: "this is a shadow")
    let readiness = try await service.readiness()
    #expect(readiness.status == 200)
    #expect(readiness.text.contains("SHADOW is true: pushes are recorded, none is sent"))
    let withheld = #"tacet_outcomes_total{decision="skipped",kind="message",reason="shadow"}"#
    #expect(try await service.counter(withheld, reaching: 6) == 6)
  }

  @Test("pushes of every other kind, to browsers and Android too, are withheld by name")
  func kinds() async throws {
    try await ChannelScene.play(extra: ["SHADOW": "check_in,read_sync"]) { channels, service in
      let scene = channels.scene
      let conversation = try await Conversation(scene, [.away()])
      let user = conversation.people[0]
      try await channels.subscribe(user, as: "browser", at: service)
      try await channels.register(user, at: service)
      let message = try await conversation.say()
      #expect(try await scene.pushes(of: message, atLeast: 1).count == 1)
      _ = try await channels.browserPushes(atLeast: 1)
      let answer = try await service.post(
        "/v1/pushes", #"{"user_id": "\#(user)", "kind": "check_in", "title": "Hello", "body": ""}"#)
      #expect(answer.text.contains(#""reason":"shadow""#), "\(answer.text)")
      try await scene.wait(for: "1", to: "select count(*) from tacet.push_log where push_type = 'check_in'")
      let verdicts = try await scene.sql(
        """
        select string_agg(split_part(a ->> 'route', '/', 1) || ' ' || (a ->> 'verdict'), ', ' order by a ->> 'route' collate "C")
        from tacet.push_log l, jsonb_array_elements(l.history -> 0 -> 'attempts') a where l.reason = 'shadow'
        """)
      #expect(verdicts == "com.example.app shadow, fcm shadow, web_push shadow")
      #expect(channels.browsers.service.pushes.count == 1)
      let doctor = try await scene.tacet("doctor", settings: scene.settings)
      #expect(doctor.text.contains("warn  shadow: SHADOW is set: pushes of the kinds check_in, read_sync are recorded"))
    }
  }
}

extension ServiceScene {
  /// Runs `tacet` to its end: what it printed, and its exit code.
  fileprivate func tacet(_ arguments: String..., settings: [String: String]? = nil) async throws -> (
    text: String, code: Int
  ) {
    let run = try ServiceProcess(arguments, settings: settings ?? databaseSettings)
    let code = try await run.exitCode()
    let lines = run.text.split(separator: "\n").filter { !$0.hasPrefix("pid ") && !$0.hasPrefix("exit ") }
    return (lines.joined(separator: "\n"), code)
  }
}

extension RunningService {
  /// Asks as a server of the host does.
  fileprivate func post(_ path: String, _ body: String) async throws -> HTTPAnswer {
    var request = URLRequest(url: try #require(URL(string: origin + path)))
    request.httpMethod = "POST"
    request.httpBody = Data(body.utf8)
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.setValue("Bearer the-service-key-of-the-tests-long-enough", forHTTPHeaderField: "Authorization")
    return try await HTTPAnswer(of: request)
  }
}

/// A conversation in which each recipient is another case for the two senders.
private struct ShadowChat {
  private let scene: ServiceScene
  private let conversation: Conversation

  init(_ scene: ServiceScene) async throws {
    self.scene = scene
    let cases: [Conversation.Person] = [.away(), .viewing(), .away(), .away(), .away(), .init(), .away()]
    conversation = try await Conversation(scene, cases)
    try await scene.sql(
      """
      insert into tacet.conversation_preferences (user_id, conversation_id, is_muted, mentions_only)
      values ('\(conversation.people[4])', '\(conversation.id)', true, false)
      """)
  }

  var away: String { conversation.people[0] }
  private var reader: String { conversation.people[3] }

  /// A message to: one who is away; one who looks at it; one who looked 20 seconds ago; one who reads it at once elsewhere; one who
  /// has muted the conversation; one without a device; and one who was looking and leaves without having seen it.
  func say() async throws -> String {
    let people = conversation.people
    func seen(_ ago: String, _ person: Int) -> String {
      """
      update conversation_participants set last_seen = clock_timestamp() - interval '\(ago)', tacet_left_at = null
      where user_id = '\(people[person])';
      """
    }
    try await scene.sql(seen("0 s", 1) + seen("20 s", 2) + seen("0 s", 6))
    let message = try await conversation.say(readBy: [reader])
    _ = try await scene.ledger(of: message, held: 2, others: people.count - 2)
    try await scene.sql(
      seen("0 s", 1)
        + "update conversation_participants set tacet_left_at = clock_timestamp() where user_id = '\(people[6])'"
    )
    _ = try await scene.settled(message)
    return message
  }
}

/// deploy/lib/demo/shadow-sender.sql under psql.
private final class UsualSender {
  private let process = Process()

  init(_ scene: ServiceScene) throws {
    process.executableURL = URL(filePath: TestPostgres.binaries + "/psql")
    process.arguments = [
      "-X", "-q", "-d", scene.settings["DATABASE_URL", default: ""], "-f",
      Repository.file("deploy/lib/demo/shadow-sender.sql").path,
    ]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
  }

  /// By the signal that no process blocks: the child has its parent's mask.
  func end() {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}

/// A port that takes connections and says nothing, and knows whether one came.
private final class DeafServer {
  private let descriptor: Int32
  let port: UInt16

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listening = descriptor
    // The structure begins like the general one, and the calls keep no pointer.
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listening, $0, length) | listen(listening, 16) | getsockname(listening, $0, &length)
      }
    }
    try #require(result == 0)
    port = UInt16(bigEndian: address.sin_port)
  }

  deinit { close(descriptor) }

  /// Whether a connection waits to be accepted.
  var wasCalled: Bool {
    var look = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&look, 1, 0) != 0
  }
}
