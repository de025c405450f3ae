import Foundation
import Simulators
import TestProcesses
import Testing

@Suite("Settings that are read again", .serialized)
struct ReloadTests {
  private let both = [ServiceScene.bundle, AppsScene.coach]

  @Test("another key is followed, and every push under way is accepted once")
  func reload() async throws {
    try await AppsScene.play { apps, service in
      let scene = apps.scene
      let conversation = try await apps.conversation(both)
      let before = try await apps.pushesByApp(of: try await conversation.say(), both)
      // A push to each of many devices that take their time, so that they are under way when the new client takes over.
      let crowd = try await apps.conversation((0..<40).map { both[$0 % 2] })
      for (index, tokens) in crowd.tokens.enumerated() {
        try await apps.assign(tokens[0], to: both[index % 2], delayMilliseconds: 6_000)
      }
      let slow = try await crowd.say()
      _ = try await scene.pushes(of: slow, atLeast: 40)

      try apps.registerCoachKey("KEY0000003")
      try apps.writeSettings(apps.coachSection(key: "KEY0000003"))
      try await service.process.signal(SIGHUP)
      async let duringReload = conversation.say(times: 10)
      let line = try await service.process.line(containing: "settings reloaded")
      #expect(line.contains("keys=\(AppsScene.coach)") && !line.contains("needs_restart"), "\(line)")
      let underWay = try await scene.pushes(of: slow, atLeast: 40).filter { $0.answeredMicroseconds == nil }
      #expect(Set(underWay.map(\.topic)) == Set(both))
      var messages = try await duringReload
      // What the former key has signed must not be judged by its successor.
      for message in messages { _ = try await scene.pushes(of: message, atLeast: both.count) }
      apps.revokeKey("KEY0000002")
      messages += try await conversation.say(times: 10)

      for message in messages {
        let pushes = try await apps.pushesByApp(of: message, both)
        #expect(pushes.keys.sorted() == both.sorted())
        #expect(Set(try await scene.settled(message).values) == ["sent "])
      }
      #expect(Set(try await scene.settled(slow).values) == ["sent "])
      let slowPushes = try await scene.pushes(of: slow, atLeast: 40)
      #expect(slowPushes.count == 40 && slowPushes.allSatisfy { $0.status == 200 })
      // The other team's token is the one it was.
      let after = try await apps.pushesByApp(of: try #require(messages.last), both)
      #expect(after[both[0]]?.providerTokenHash == before[both[0]]?.providerTokenHash)
      #expect(after[both[1]]?.providerTokenHash != before[both[1]]?.providerTokenHash)
      #expect(after[both[0]]?.connection == before[both[0]]?.connection)
      #expect(after[both[1]]?.connection != before[both[1]]?.connection)
    }
  }

  @Test("a route that APNs refused works at once with a key that it takes")
  func repaired() async throws {
    try await AppsScene.play { apps, service in
      apps.revokeKey("KEY0000002")
      let conversation = try await apps.conversation([AppsScene.coach])
      let message = try await conversation.say()
      let ledger = try await apps.scene.ledger(of: message, held: 1)
      #expect(ledger[conversation.people[0]] == "held InvalidProviderToken")
      // The same name and path; only what stands in the file is another key.
      try apps.registerCoachKey("KEY0000002")
      try await service.process.signal(SIGHUP)
      _ = try await service.process.line(containing: "keys=\(AppsScene.coach)")
      #expect(try await apps.scene.settled(message) == [conversation.people[0]: "sent "])
      #expect(try await apps.scene.pushes(of: message, atLeast: 1).filter { $0.status == 200 }.count == 1)
    }
  }

  @Test("a broken file changes nothing, and the log names every problem and no secret")
  func broken() async throws {
    try await AppsScene.play { apps, service in
      let section = "[app \(AppsScene.rider)]\nAPNS_KEYID=KEY0000009\nAPNS_PRIVATE_KEY=hunter2"
      try apps.writeSettings(address: "nowhere", section)
      try await service.process.signal(SIGHUP)
      let line = try await service.process.line(containing: "settings not reloaded")
      for part in ["LISTEN_ADDRESS", "APNS_KEYID", "APNS_PRIVATE_KEY ([app \(AppsScene.rider)])"] {
        #expect(line.contains(part), "\(line)")
      }
      #expect(!service.process.text.contains("hunter2"))
      let conversation = try await apps.conversation(both)
      let message = try await conversation.say()
      #expect(try await apps.pushesByApp(of: message, both).count == 2)
      #expect(try await service.readiness().status == 200)
    }
  }

  @Test("apps that come or go, and what else needs a restart, are named; a restart follows them")
  func restart() async throws {
    try await AppsScene.play { apps, service in
      let early = try await apps.conversation([AppsScene.rider])
      let waiting = try await early.say()
      #expect(try await apps.scene.ledger(of: waiting, held: 1)[early.people[0]] == "held app_not_configured")
      let conversation = try await apps.conversation([AppsScene.coach])
      try apps.writeSettings(address: "127.0.0.1:1", "[app \(AppsScene.rider)]")
      try await service.process.signal(SIGHUP)
      let line = try await service.process.line(containing: "settings reloaded")
      for part in ["[app \(AppsScene.rider)]", "[app \(AppsScene.coach)]", "LISTEN_ADDRESS"] {
        #expect(line.contains(part), "\(line)")
      }
      // Those of the start go on.
      let message = try await conversation.say()
      #expect(try await apps.pushesByApp(of: message, [AppsScene.coach])[AppsScene.coach] != nil)
      try apps.writeSettings(apps.coachSection(), "[app \(AppsScene.rider)]")
      try await service.stop()
      try await apps.restart { _ in
        let pushes = try await apps.pushesByApp(of: waiting, [AppsScene.rider])
        #expect(pushes[AppsScene.rider] != nil)
      }
    }
  }
}

@Suite("The certificate of the HTTP service", .serialized)
struct CertificateTests {
  private let folder: String

  init() throws { folder = try makeTemporaryFolder("test-certificate") }

  @Test("it is shown, renewed by a reload, and kept when the renewed one is unusable")
  func renewal() async throws {
    try await makeCertificate("first")
    try await makeCertificate("second")
    try install("first")
    let extra = ["TLS_CERTIFICATE_FILE": folder + "/current.pem", "TLS_KEY_FILE": folder + "/current.key"]
    try await ServiceScene.play(extra: extra) { _, service in
      #expect(try await health(service, trusting: "first"))
      #expect(try await !health(service, trusting: "second"))

      try install("second")
      try await service.process.signal(SIGHUP)
      #expect(try await service.process.line(containing: "settings reloaded").contains("certificate=renewed"))
      #expect(try await health(service, trusting: "second"))
      #expect(try await !health(service, trusting: "first"))

      // The key of another certificate.
      try install("second", key: "first")
      try await service.process.signal(SIGHUP)
      _ = try await service.process.line(containing: "settings not reloaded")
      #expect(try await health(service, trusting: "second"))
    }
  }

  private func install(_ certificate: String, key: String? = nil) throws {
    for (source, target) in [("\(certificate).pem", "current.pem"), ("\(key ?? certificate).key", "current.key")] {
      try Data(contentsOf: URL(filePath: "\(folder)/\(source)")).write(to: URL(filePath: "\(folder)/\(target)"))
    }
  }

  private func makeCertificate(_ name: String) async throws {
    let command = [
      "/usr/bin/env", "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-keyout", "\(folder)/\(name).key", "-out", "\(folder)/\(name).pem", "-days", "1", "-subj", "/CN=\(name)",
      "-addext", "subjectAltName=IP:127.0.0.1",
    ]
    try await onOwnThread { _ = try run(command) }
  }

  /// Whether `/healthz` answers over TLS to somebody who trusts this certificate alone.
  private func health(_ service: RunningService, trusting name: String) async throws -> Bool {
    let url = service.origin.replacingOccurrences(of: "http://", with: "https://") + "/healthz"
    let command = ["/usr/bin/env", "curl", "-sf", "--max-time", "60", "--cacert", "\(folder)/\(name).pem", url]
    return try await onOwnThread { (try? run(command))?.contains("ok") ?? false }
  }
}
