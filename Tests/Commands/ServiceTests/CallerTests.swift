import Foundation
import FoundationNetworking
import Simulators
import TestPostgres
import TestProcesses
import TestRepository
import Testing

@Suite("Under overload")
struct OverloadTests {
  private static let pushes = 3_000

  @Test("messages do not wait for thousands of stored pushes, all of which are sent", arguments: ["1", "2"])
  func messagesFirst(_ reactors: String) async throws {
    try await ServiceScene.play(extra: ["REACTORS": reactors]) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      // An answer takes its time, so that the backlog lasts.
      scene.register(conversation.tokens[0][0], delayMilliseconds: 20)
      try await scene.sql(Self.enqueue(to: conversation.people[0]))
      let begin = ContinuousClock.now
      var messages: [String] = []
      for number in 0..<5 {
        let message = try await conversation.say()
        messages.append(message)
        _ = try await scene.pushes(of: message, atLeast: 1)
        if number == 0 { #expect(try await Self.sent(scene) < Self.pushes, "the backlog is gone: nothing was tested") }
        // What is asked is answered meanwhile.
        #expect(try await service.get("/healthz").status == 200)
      }
      try await Self.allSent(scene)
      // More than a message takes behind one look for other kinds, and far less than all of them take.
      let limit = max(.seconds(2), (ContinuousClock.now - begin) / 4)
      for message in messages { #expect(try await scene.timeToPush(message) < limit) }
    }
  }

  private static func enqueue(to user: String) -> String {
    """
    with entered as (
      insert into tacet.pushes (user_id, kind, title, body, presentation)
      select '\(user)', 'push', 'Title', 'Body ' || n, '{}' from generate_series(1, \(pushes)) n
      returning id, user_id, kind, created_at
    )
    insert into tacet.inbox (subject_id, kind, conversation_id, enqueued_at, available_at)
    select e.id, e.kind, tacet.turn_of(e.user_id), e.created_at, e.created_at from entered e
    """
  }

  private static func allSent(_ scene: ServiceScene) async throws {
    let deadline = ContinuousClock.now + .seconds(300)
    while try await sent(scene) < pushes {
      try #require(ContinuousClock.now < deadline)
      try await Task.sleep(for: ServiceScene.pause)
    }
  }

  private static func sent(_ scene: ServiceScene) async throws -> Int {
    Int(try await scene.sql("select count(*) from push_log where push_type = 'push' and decision = 'sent'")) ?? 0
  }
}

@Suite("Callers whose requests wait in the database")
struct BusyCallersTests {
  private static let serviceKey = "service-key-of-the-busy-callers"

  @Test("other servers' requests that wait for a lock hold up no push")
  func locked() async throws {
    try await ServiceScene.play(extra: ["SERVICE_KEY": Self.serviceKey, "REACTORS": "1"]) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      let usual = try await scene.timeToPush(try await conversation.say())
      // Ends by itself: the service's own limit for a statement is five seconds.
      async let lock = scene.sql("begin; lock table tacet.pushes in share mode; select pg_sleep(60)")
      let locks = "select count(*) > 0 from pg_locks where relation = 'tacet.pushes'::regclass and"
      try await scene.wait(for: "t", to: "\(locks) mode = 'ShareLock' and granted")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<24 {
          group.addTask { _ = try await submit(to: conversation.people[0], service) }
        }
        try await scene.wait(for: "t", to: "\(locks) not granted")
        let took = try await scene.timeToPush(try await conversation.say())
        #expect(took < max(.seconds(3), usual * 4), "usually \(usual)")
        try await scene.sql(
          "select pg_terminate_backend(pid) from pg_locks where relation = 'tacet.pushes'::regclass and mode = 'ShareLock'"
        )
        try await group.waitForAll()
      }
      _ = try? await lock
    }
  }

  private func submit(to user: String, _ service: RunningService) async throws -> HTTPAnswer {
    var request = URLRequest(url: try #require(URL(string: service.origin + "/v1/pushes")))
    request.httpMethod = "POST"
    request.httpBody = Data(#"{"user_id":"\#(user)","title":"Hello","body":"There"}"#.utf8)
    for (name, value) in [
      "Authorization": "Bearer \(Self.serviceKey)", "Content-Type": "application/json", "Prefer": "respond-async",
    ] {
      request.setValue(value, forHTTPHeaderField: name)
    }
    return try await HTTPAnswer(of: request)
  }
}

@Suite("Strangers", .timeLimit(.minutes(5)))
struct StrangersTests {
  @Test("nine hundred connections with a mebibyte of unfinished content each take less than 50 MB")
  func memory() async throws {
    try await ServiceScene.play { _, service in
      let port = try #require(URL(string: service.origin)?.port)
      let before = try await service.process.residentBytes
      let signed =
        "webhook-id: m\r\nwebhook-timestamp: \(Int(Date().timeIntervalSince1970))\r\nwebhook-signature: v1,\(code)\r\n"
      let heads = [
        "Content-Length: 1048576\r\n", "Authorization: Bearer wrong\r\nContent-Length: 1048576\r\n",
        signed + "Content-Length: 65536\r\n", signed + "Transfer-Encoding: chunked\r\n",
      ]
      let floods = (0..<900).compactMap { number in
        Flood(
          port,
          "POST /v1/webhooks/messages HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            + heads[number % heads.count] + "\r\n" + (number % heads.count == 3 ? "ffff0\r\n" : ""))
      }
      #expect(floods.count == 900)
      var most = 0
      // Content that is neither read nor refused would be taken in some of these turns.
      for _ in 0..<40 {
        for flood in floods { flood.send() }
        most = max(most, try await service.process.residentBytes)
      }
      print("unfinished content of strangers: \(before / 1_000_000) MB before, \(most / 1_000_000) MB with it")
      #expect(most - before < 50_000_000)
      #expect(try await service.get("/healthz").status == 200)
      withExtendedLifetime(floods) {}
    }
  }

  private var code: String { Data(repeating: 7, count: 32).base64EncodedString() }
}

/// A connection that sends its head, and then content as long as it is taken.
private final class Flood {
  private let descriptor: Int32
  private var left = 1_048_000

  init?(_ port: Int, _ head: String) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0,
      head.utf8.count == Array(head.utf8).withUnsafeBytes({ Foundation.send(descriptor, $0.baseAddress, $0.count, 0) })
    else { return nil }
  }

  deinit { close(descriptor) }

  func send() {
    let piece = [UInt8](repeating: UInt8(ascii: " "), count: min(left, 65_000))
    let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    left -= max(0, piece.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, flags) })
  }
}

@Suite("A hostile client", .timeLimit(.minutes(5)))
struct HostileClientTests {
  private static let script = Repository.file("deploy/lib/checks/hostile.py").path
  private static let serviceKey = "service-key-of-the-hostile-client"

  @Test("finds nothing that is answered with 500 or not at all, keeps memory or holds up a push")
  func requests() async throws {
    let own = ["SERVICE_KEY": Self.serviceKey, "TRUSTED_PROXIES": "127.0.0.1", "WEBHOOK_WAIT_MILLISECONDS": "1000"]
    let settings = AppTests.settings.merging(own) { $1 }
    try await ServiceScene.play(extra: settings) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      let message = try await conversation.say()
      try await scene.sql(
        """
        insert into profiles (id)
        select ('00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid from generate_series(0, 4095) n
        """)
      let secret = AppTests.settings["JWT_SECRET", default: ""]
      let process = try await service.process.id
      let seed = UInt32.random(in: 0...UInt32.max)
      let output = try await onOwnThread {
        try run([
          "/usr/bin/env", "WEBHOOK_SECRET=\(ServiceScene.secret)", "SERVICE_KEY=\(Self.serviceKey)",
          "JWT_SECRET=\(secret)", "KNOWN_IDS=\(conversation.id) \(message)", "python3", Self.script, service.origin,
          "2000", "\(seed)", "\(process)",
        ])
      }
      print(output)
      let innocent = try await conversation.say()
      #expect(try await scene.settled(innocent) == [conversation.people[0]: "sent "])
    }
  }
}

@Suite("A service without its key set", .serialized)
struct KeySetReadinessTests {
  @Test("it is ready and says what it lacks, tells the log and no password, and stops as ever")
  func unreachable() async throws {
    try await ServiceScene.play(extra: ["JWKS_URL": "http://me:hunter2@127.0.0.1:1/keys"]) { _, service in
      _ = try await service.process.line(containing: "the key set cannot be fetched")
      let answer = try await service.readiness()
      #expect(answer.status == 200)
      let checks = try #require(answer.json["checks"] as? [[String: any Sendable]])
      let check = try #require(checks.first { $0["name"] as? String == "jwks" })
      #expect(check["ready"] as? Bool == true)
      let detail = try #require(check["detail"] as? String)
      #expect(detail.hasPrefix("no key set has been had yet: the host cannot be reached"))
      #expect(!answer.text.contains("hunter2"))
      #expect(!service.process.text.contains("hunter2"))
    }
  }

  @Test("a secret alone is checked for nothing")
  func secretAlone() async throws {
    try await ServiceScene.play(extra: ["JWT_SECRET": String(repeating: "s", count: 32)]) { _, service in
      let answer = try await service.readiness()
      #expect(answer.status == 200)
      #expect(!answer.text.contains("jwks"))
    }
  }
}
