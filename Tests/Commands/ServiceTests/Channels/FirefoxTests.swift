import Cryptography
import Foundation
import Reactors
import Simulators
import Synchronization
import TestPostgres
import TestProcesses
import TestRepository
import Testing

/// The service, the worker and the client in a real browser, which a push service of the test's own serves.
@Suite("A browser", .serialized, .timeLimit(.minutes(10)))
struct FirefoxTests {
  private static let folder = Repository.file("Tests/Commands/ServiceTests/Firefox").path
  private static let serviceKey = "the-service-key-of-the-tests-long-enough"

  @Test("the judge of pushes that the browser's push service has finds what is wrong")
  func judge() async throws {
    _ = try await onOwnThread { try run(["/usr/bin/python3", Self.folder + "/test_web_push.py"]) }
  }

  @Test("subscribes, shows what comes while its page is closed, opens it, clears it, and survives what can happen")
  func push() async throws {
    let work = try makeTemporaryFolder("test-firefox")
    let (servicePort, pushPort, sitePort) = (try reservedPort(), try reservedPort(), try reservedPort())
    let authority = try CertificateAuthority(name: "Browser test")
    let issued = try authority.issue(for: ["127.0.0.1"])
    for (name, text) in [("ca", authority.certificate), ("cert", issued.certificate), ("key", issued.key)] {
      try text.write(toFile: "\(work)/\(name).pem", atomically: true, encoding: .utf8)
    }
    let scene = try await ServiceScene(
      extra: [
        "VAPID_SUBJECT": "mailto:ops@example.com", "WEB_PUSH_HOSTS": "127.0.0.1:\(pushPort)",
        "WEB_PUSH_URL": "http://127.0.0.1:\(sitePort)/c/{conversation_id}", "WEB_PUSH_CA_FILE": "\(work)/ca.pem",
        "SERVICE_KEY": Self.serviceKey, "LISTEN_ADDRESS": "127.0.0.1:\(servicePort)",
        // What the user read a moment ago holds nothing here.
        "SUPPRESSION_WINDOW_SECONDS": "0",
      ].merging(AppTests.settings) { first, _ in first })
    let conversation = try await Conversation(scene, [.init(devices: [])])
    let user = conversation.people[0]
    let token = AppTests.token(of: user)
    let known = [
      "database": scene.postgres.conninfo(database: scene.database), "service": "http://127.0.0.1:\(servicePort)",
      "key": Self.serviceKey, "token": token, "user": user, "sender": conversation.sender,
      "conversation": conversation.id, "ask": "\(work)/ask", "done": "\(work)/done",
    ]
    try JSONEncoder().encode(known).write(to: URL(filePath: "\(work)/act.json"))
    for name in ["ask", "done"] { #expect(mkfifo("\(work)/\(name)", 0o600) == 0) }

    let service = Mutex(try await scene.startService(extra: ["VAPID_PRIVATE_KEY": P256PrivateKey().pem]))
    let rotation = Task {
      // Each opening waits for the other side.
      guard try await onOwnThread({ try run(["cat", "\(work)/ask"]) }) == "rotate\n" else { return }
      try await service.withLock(\.self).stop()
      let next = try await scene.startService(extra: ["VAPID_PRIVATE_KEY": P256PrivateKey().pem])
      service.withLock { $0 = next }
      _ = try await onOwnThread { try run(["sh", "-c", "echo done >\(work)/done"]) }
    }
    let act = "env ACT=\(work)/act.json /usr/bin/python3 \(Self.folder)/act.py"
    var command = [
      "/usr/bin/python3", Self.folder + "/firefox_push.py", "--service", "http://127.0.0.1:\(servicePort)", "--token",
      token, "--out", work, "--site-port", "\(sitePort)", "--push-port", "\(pushPort)", "--certificate",
      "\(work)/cert.pem", "--key", "\(work)/key.pem",
    ]
    for name in ["insert", "push", "read", "fetch", "rotate"] { command += ["--\(name)", "\(act) \(name)"] }
    let said = await Result { [command] in try await onOwnThread { try run(command) } }
    // Where the steps ended before it.
    if case .failure = said { _ = try? run(["timeout", "5", "sh", "-c", "echo end >\(work)/ask"]) }
    _ = try? await rotation.value
    try await service.withLock(\.self).stop()
    await scene.simulator.stop()
    let text = try said.get()
    print(text)
    #expect(text.contains("18 steps, nothing wrong"))
  }
}

extension Result where Failure == any Error {
  fileprivate init(_ work: () async throws -> Success) async {
    do {
      self = .success(try await work())
    } catch {
      self = .failure(error)
    }
  }
}
