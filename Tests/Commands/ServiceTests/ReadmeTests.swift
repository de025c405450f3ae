import Cryptography
import Foundation
import Reactors
import Simulators
import TestLogs
import TestPostgres
import TestProcesses
import TestRepository
import Testing

/// The commands and settings of the README's way into an application, from its text.
private struct ReadmeSteps {
  /// In their order; a mention of a command by its name alone is one too.
  let commands: [String]
  let settings: [String: String]
  private(set) var taken: [String] = []

  init() throws {
    let text = try Repository.text("README.md")
    let section = try #require(
      text.components(separatedBy: "\n## ").first { $0.hasPrefix("Put it into your application\n") })
    let block = try #require(section.firstMatch(of: /```ini\n([^`]*)```/))
    settings = try Dictionary(
      uniqueKeysWithValues: block.1.split(whereSeparator: \.isWhitespace).map { line in
        let parts = line.split(separator: "=", maxSplits: 1)
        return (String(parts[0]), String(try #require(parts.last)))
      })
    commands = section.replacing(block.0, with: "").matches(of: /`([^`]+)`/)
      .map { $0.1.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
      .filter { $0.contains(/^(\w+=\S+ )?(tacet|psql|openssl|create|deploy\/\w+)( |$)/) && $0 != "tacet" }
  }

  /// The first command with these words, as the README has it.
  mutating func take(_ words: String) throws -> String {
    let command = try #require(commands.first { $0.contains(words) }, "the README has no command \(words)")
    taken.append(command)
    return command
  }
}

/// An empty server, the application of the guides, and what else the README's reader has.
private final class ReadmeMachine {
  let server: TestPostgres
  let simulator: APNSSimulator
  let key = P256PrivateKey()
  let folder: String
  private let database: String

  init(_ settings: [String: String]) async throws {
    server = try await TestPostgres.launch()
    let conninfo = try await server.makeDatabase()
    database = String(try #require(conninfo.split(separator: "=").last))
    folder = try makeTemporaryFolder("test-readme")
    var configuration = APNSSimulatorConfiguration()
    configuration.listeners = [.production: try #require(SocketAddress(numericHost: "127.0.0.1", port: 0))]
    let (identifier, team) = try (#require(settings["APNS_KEY_ID"]), #require(settings["APNS_TEAM_ID"]))
    configuration.registry.register(ProviderKey(identifier: identifier, team: team, publicKey: key.publicKey))
    configuration.registry.registerBundle(try #require(settings["APNS_BUNDLE_ID"]), team: team)
    simulator = try APNSSimulator(configuration)
    try await sql(Repository.text("deploy/checks/app.sql"))
  }

  private func url(as role: String) -> String {
    "host=\(server.folder) port=\(server.port) user=\(role) dbname=\(database)"
  }

  /// For Tacet, and for psql.
  var owner: [String: String] {
    [
      "DATABASE_URL": url(as: "postgres"), "PGHOST": server.folder, "PGPORT": "\(server.port)", "PGUSER": "postgres",
      "PGDATABASE": database,
    ]
  }

  @discardableResult
  func sql(_ text: String) async throws -> String {
    try await server.psql(text, database: database).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// What a shell command prints, in the reader's folder with the built programs first; it has to succeed.
  @discardableResult
  func run(_ command: String, _ variables: [String: String]) async throws -> String {
    let programs = URL(filePath: builtProgram("tacet")).deletingLastPathComponent().path
    let path = "PATH=\(programs):\(TestPostgres.binaries):/usr/bin:/bin"
    let assignments = [path] + variables.map { "\($0)=\($1)" }
    let script = "cd '\(folder)' && \(command)"
    return try await onOwnThread {
      try TestProcesses.run(["/usr/bin/env", "-i"] + assignments + ["/bin/sh", "-c", script])
    }
  }

  /// Writes the README's settings with what the reader has behind them; the file's path.
  func write(_ settings: [String: String], secret: String) async throws -> String {
    let addresses = try await simulator.start()
    let port = try #require(addresses.listeners[.production]).port
    try #require(simulator.certificateAuthority)
      .write(toFile: folder + "/ca.pem", atomically: true, encoding: .utf8)
    try key.pem.write(toFile: folder + "/key.p8", atomically: true, encoding: .utf8)
    for value in [secret, key.pem] { RunLogs.note(value, as: .secret) }
    var settings = settings.mapValues { $0.replacing("...", with: secret) }
    settings["DATABASE_URL"] = url(as: "tacet_service")
    settings["APNS_PRIVATE_KEY_FILE"] = folder + "/key.p8"
    settings["APNS_URL"] = "https://127.0.0.1:\(port)"
    settings["APNS_CA_FILE"] = folder + "/ca.pem"
    settings["LISTEN_ADDRESS"] = "127.0.0.1:0"
    let file = folder + "/tacet.conf"
    try settings.map { "\($0)='\($1)'\n" }.joined().write(toFile: file, atomically: true, encoding: .utf8)
    return file
  }
}

@Suite("The README's steps")
struct ReadmeTests {
  @Test("lead to a push of the application's message, and each of their commands is run")
  func steps() async throws {
    var steps = try ReadmeSteps()
    let machine = try await ReadmeMachine(steps.settings)
    let owner = machine.owner
    func asOwner(_ command: String) -> String { command.replacing("DATABASE_URL=... ", with: "") }

    try await machine.sql(steps.take("create role"))
    let proposal = try await machine.run(asOwner(steps.take("tacet init --role")), owner)
    try await machine.run(steps.take("tacet init --from"), owner)
    // With the types of ids that `tacet init` printed.
    let printed = try #require(proposal.firstMatch(of: /\n *(tacet migrate [^#\n]*)/), "\(proposal)").1
    #expect(printed.hasPrefix(try steps.take("tacet migrate")))
    try await machine.run(String(printed), owner)
    try await machine.run(steps.take("psql -f"), owner)

    let secret = try await machine.run(steps.take("openssl rand"), [:]).trimmingCharacters(in: .newlines)
    let file = try await machine.write(steps.settings, secret: secret)
    let configured = ["TACET_CONFIG": file]
    let serve = try steps.take("tacet serve").split(separator: " ").map(String.init)
    #expect(serve.first?.hasPrefix("TACET_CONFIG=") == true)
    let service = RunningService(
      process: try ServiceProcess(Array(serve.dropFirst(2)), settings: configured), origin: "")
    _ = try await service.process.line(containing: "connected to APNs")
    try await machine.run(steps.take("tacet doctor"), configured)

    let token = try await machine.sql("select device_token from devices")
    RunLogs.note(token, as: .deviceToken)
    let bundle = try #require(steps.settings["APNS_BUNDLE_ID"])
    machine.simulator.service.withRegistry { registry in
      _ = registry.register(RegisteredDevice(environment: .production, bundle: bundle), token: token)
    }
    let push = try steps.take("tacet push --device").replacing("TOKEN", with: token)
    #expect(try await machine.run(push, configured).contains("APNs accepted it"))
    let message = try await machine.sql(
      """
      insert into posts (room_id, person_id, body)
      select r.id, p.id, 'Hello' from rooms r, people p where p.name = 'Ann' returning id
      """)
    #expect(await machine.simulator.waitForPushes(2, within: ServiceScene.patience))
    try await service.stop()
    let explain = asOwner(try steps.take("tacet explain --message")).replacing("ID", with: message)
    #expect(try await machine.run(explain, owner).contains("1 recipient: 1 sent."))
    await machine.simulator.stop()

    // Without an application yet.
    let empty = try await machine.server.makeDatabase()
    try await machine.run(steps.take("tacet migrate --create-host-tables"), ["DATABASE_URL": empty])
    // It takes minutes; releases are made with it.
    #expect(try Repository.text("deploy/package").contains(steps.take("deploy/build")))
    let forgotten = steps.commands.filter { command in !steps.taken.contains { $0.contains(command) } }
    #expect(forgotten == [])
  }
}
