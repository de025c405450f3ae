import Foundation
import Simulators
import TestHosts
import TestPostgres
import TestProcesses
import Testing

@Suite("Applications wired by tacet init", .serialized)
struct WiredHostTests {
  @Test(
    "get their pushes without a hand-written line, and the doctor finds nothing that fails", arguments: HostSample.all)
  func pushed(_ sample: HostSample) async throws {
    let scene = try await ServiceScene(host: sample.tables, migrateOptions: sample.migrateOptions)
    let output = try await wire(scene, sample)
    let migrate = (["tacet", "migrate"] + sample.migrateOptions).joined(separator: " ")
    #expect(output.split(separator: "\n").contains { $0.hasSuffix("  \(migrate)") }, "\(output)")
    try await expectPush(scene, sample, settings: scene.settings)
  }

  @Test("get them beside tables that have the names of the default contract and are something else")
  func strangers() async throws {
    let sample = HostSample.laravelChat
    let strangers = """
      ; create table messages (tenant int, id uuid, subject text, primary key (tenant, id));
      create table profiles (id numeric primary key, bio text);
      create table conversations (id text primary key);
      create table conversation_participants (conversation_id uuid, user_id uuid);
      create table push_tokens (user_id bigint, device_token bytea)
      """
    let scene = try await ServiceScene(host: sample.tables + strangers, migrateOptions: sample.migrateOptions)
    let role = "service_\(scene.database)"
    try await scene.sql("create role \(role) login; select tacet.grant_service('\(role)')")
    _ = try await wire(scene, sample, ["--role", role])
    var settings = scene.settings
    settings["DATABASE_URL"] =
      "host=\(scene.postgres.folder) port=\(scene.postgres.port) user=\(role) dbname=\(scene.database)"
    try await expectPush(scene, sample, settings: settings)
    let marks =
      "select count(*) from pg_trigger t where t.tgname ~ '^tacet' and not t.tgisinternal and t.tgrelid = any (array["
    let names = ["messages", "profiles", "conversation_participants"].map { "'public.\($0)'::regclass" }
    #expect(try await scene.sql("\(marks)\(names.joined(separator: ", "))])") == "0")
  }

  @Test("have the rights and policies of a service with a separate role")
  func role() async throws {
    let sample = HostSample.supabaseChat
    let scene = try await ServiceScene(host: sample.tables)
    let role = "service_\(scene.database)"
    try await scene.sql(
      """
      create role \(role) login;
      select tacet.grant_service('\(role)');
      grant usage on schema public to \(role);
      grant select, insert, update, delete on public.push_log to \(role)
      """)
    _ = try await wire(scene, sample, ["--role", role])
    var settings = scene.settings
    settings["DATABASE_URL"] =
      "host=\(scene.postgres.folder) port=\(scene.postgres.port) user=\(role) dbname=\(scene.database)"
    try await expectPush(scene, sample, settings: settings)
    let pair = "array['\(sample.conversation)'::uuid], array['\(sample.reader)'::uuid]"
    let token = String(repeating: "1f", count: 32)
    let written = try await scene.sql(
      """
      set role \(role);
      select is_participant, is_skipped from tacet.view_conversations(\(pair), array[true], array[false]);
      select tacet.register_device('\(sample.reader)', '\(token)', 'sandbox', null, 'ios', null, null, 1);
      select device_token, environment from tacet.device_tokens('\(sample.reader)');
      select tacet.learn_token_environment('\(token)', 'production', 'sandbox', null, clock_timestamp());
      select environment from tacet.device_tokens('\(sample.reader)');
      select tacet.remove_device('\(sample.reader)', '\(token)')
      """)
    #expect(written.split(separator: "\n").map(String.init) == ["t|f", "\(token)|sandbox", "production", "t"])
    try await scene.sql("delete from profiles where id = '\(sample.reader)'")
    #expect(try await scene.sql("select count(*) from tacet_host.presence") == "0")
  }

  /// Runs `tacet init` with the sample's answers, applies its file, and returns what it printed.
  private func wire(_ scene: ServiceScene, _ sample: HostSample, _ options: [String] = []) async throws -> String {
    let file = try makeTemporaryFolder("test-init") + "/wiring.sql"
    let wiring = try ServiceProcess(
      ["init", "--output", file] + sample.options + options,
      settings: ["DATABASE_URL": scene.postgres.conninfo(database: scene.database)])
    try #require(try await wiring.exitCode() == 0, "\(wiring.text)")
    try await scene.postgres.psql(script: String(contentsOfFile: file, encoding: .utf8), database: scene.database)
    return wiring.text
  }

  /// Plays a message that is pushed and what is not, and asks the doctor.
  private func expectPush(_ scene: ServiceScene, _ sample: HostSample, settings: [String: String]) async throws {
    let token = Conversation.newToken()
    try await scene.sql(sample.people.replacing("$token", with: token))
    scene.register(token)
    let service = try await scene.startService(settings: settings)
    try await scene.sql(sample.note)
    let message = try await scene.sql(sample.message)
    let pushes = try await scene.pushes(of: message, atLeast: 1)
    #expect(pushes.count == 1)
    let payload = try #require(pushes.first?.payload)
    #expect(payload.contains(sample.shown.text))
    if let name = sample.shown.name { #expect(payload.contains(name)) }
    #expect(try await scene.ledger(of: message, rows: 1) == [sample.reader: "sent "])
    #expect(try await scene.sql("select (select count(*) from tacet.inbox), count(*) from push_log") == "0|1")
    let run = try await DoctorRun(settings)
    #expect(run.lines("FAIL") == [], "\(run.text)")
    try await service.stop()
    await scene.simulator.stop()
  }
}
