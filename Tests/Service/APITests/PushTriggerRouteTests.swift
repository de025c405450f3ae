import FoundationEssentials
import PushRules
import Reactors
import TestIDs
import Testing

@testable import API

@Suite("POST /v1/push-trigger")
struct PushTriggerRouteTests {
  private struct Run: Decodable {
    let run_id: String
    let campaign: String
    let finished: Bool
    let enrolled: Int
    let undecided: Int
    let committed: Int
    let skipped: Int
    let failed: Int
    let reasons: [String: Int]
    let started_at: String
    let finished_at: String?
  }

  private struct Preview: Decodable {
    struct User: Decodable {
      let user_id: String
      let would_send: Bool
      let push_type: String?
      let reason: String?
    }

    let dry_run: Bool
    let campaign: String
    let eligible: Int
    let has_more: Bool
    let users: [User]
  }

  private static let path = "/v1/push-trigger"

  private static func post(
    _ query: String = "", prefer: String? = nil, in rig: ServiceRig
  ) async throws -> PlainResponse {
    try await rig.ask("POST", path + query, fields: prefer.map { ["Prefer": $0] } ?? [:])
  }

  @Test("clients and strangers may not")
  func strangers() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      let client = try await rig.ask("POST", Self.path, as: HostID.new().text)
      #expect(client.status == 401)
      #expect(try await PlainClient.ask("POST", Self.path, port: rig.port).status == 401)
      #expect(try await PlainClient.ask("GET", Self.path + "/\(HostID.new())", port: rig.port).status == 401)
      #expect(try await Self.post(in: rig).status == 503)
    }
  }

  @Test("where campaigns are switched off it is 403, and says how to switch them on; a dry run is answered")
  func off() async throws {
    try await ServiceRig.run(hasCampaigns: false) { rig in
      try await rig.makeCoach()
      _ = try await rig.makeCoachedUser()
      let answer = try await Self.post(in: rig)
      #expect(answer.status == 403 && answer.body.contains("PUSH_TRIGGER_ENABLED"))
      let dry = try await Self.post("?dry_run=true", in: rig)
      #expect(dry.status == 200)
      #expect(try dry.decode(Preview.self).eligible == 1)
      #expect(try await rig.psql("select count(*) from tacet.campaign_runs") == "0\n")
    }
  }

  @Test("a campaign that is not there, or not active, is 404; so is a run", arguments: ["", "&dry_run=true"])
  func unknown(more: String) async throws {
    try await ServiceRig.run { rig in
      try await rig.makeCoach()
      #expect(try await Self.post("?campaign=nobody" + more, in: rig).status == 404)
      try await rig.psql("update tacet.campaigns set is_active = false")
      #expect(try await Self.post("?campaign=coach" + more, in: rig).status == 404)
      #expect(try await rig.ask("GET", Self.path + "/\(HostID.new())").status == 404)
      #expect(try await rig.ask("GET", Self.path + "/7").status == 400)
    }
  }

  @Test("a definition that cannot be used is 409 in a dry run, which names what is wrong with it")
  func unusable() async throws {
    try await ServiceRig.run { rig in
      try await rig.makeCoach()
      try await rig.psql(#"update tacet.campaigns set definition = '{"layers": []}'"#)
      let answer = try await Self.post("?dry_run=true", in: rig)
      #expect(answer.status == 409 && answer.body.contains("layers"), "\(answer.body)")
    }
  }

  @Test("a host without the coach's tables is told so")
  func withoutTables() async throws {
    try await ServiceRig.run { rig in
      for query in ["", "?dry_run=true"] {
        let answer = try await Self.post(query, in: rig)
        #expect(answer.status == 409 && answer.body.contains("SQLSTATE 42P01"), "\(answer.body)")
      }
    }
  }

  @Test("it runs for everybody who wants it, waits, and tells what was decided")
  func everybody() async throws {
    try await ServiceRig.run { rig in
      try await rig.makeCoach()
      rig.startPipeline()
      rig.startCampaigns()
      let users = [try await rig.makeCoachedUser(), try await rig.makeCoachedUser()]
      _ = try await rig.makeCoachedUser(isWilling: false)
      let answer = try await Self.post(prefer: "wait=60", in: rig)
      #expect(answer.status == 200 && answer.fields["preference-applied"] == "wait=60")
      let run = try answer.decode(Run.self)
      #expect(run.campaign == "coach" && run.finished && run.finished_at != nil)
      #expect([run.enrolled, run.undecided, run.committed, run.skipped, run.failed] == [2, 0, 2, 0, 0])
      let pushed = try await rig.psql("select user_id from tacet.pushes order by 1").split(separator: "\n")
      #expect(pushed.map(String.init) == users.sorted())
      let again = try await Self.post(prefer: "wait=60", in: rig).decode(Run.self)
      #expect(again.enrolled == 0 && again.finished && again.run_id != run.run_id)
    }
  }

  @Test("user_id is one user's run")
  func one() async throws {
    try await ServiceRig.run { rig in
      try await rig.makeCoach()
      rig.startCampaigns()
      let user = try await rig.makeCoachedUser()
      _ = try await rig.makeCoachedUser()
      let run = try await Self.post("?user_id=\(user.uppercased())", in: rig).decode(Run.self)
      #expect(run.enrolled == 1 && run.committed == 1)
      #expect(try await rig.psql("select user_id from tacet.occasions") == "\(user)\n")
      let nobody = try await Self.post("?user_id=\(HostID.new())", in: rig)
      #expect(nobody.status == 200)
      #expect(try nobody.decode(Run.self).enrolled == 0)
    }
  }

  @Test("who does not want to wait gets 202, and asks again how far the run has come")
  func asynchronous() async throws {
    try await ServiceRig.run { rig in
      try await rig.makeCoach()
      let user = try await rig.makeCoachedUser()
      let answer = try await Self.post(prefer: "respond-async", in: rig)
      #expect(answer.status == 202 && answer.fields["preference-applied"] == "respond-async")
      let run = try answer.decode(Run.self)
      #expect(!run.finished && run.finished_at == nil && run.undecided == 1)
      let early = try await rig.ask("GET", Self.path + "/\(run.run_id)").decode(Run.self)
      #expect(early.run_id == run.run_id && early.undecided == 1)
      rig.startCampaigns()
      #expect(try await Self.post(prefer: "wait=60", in: rig).status == 200)
      try await rig.wait(for: "f", to: "select status = 'scheduled' from tacet.occasions where user_id = '\(user)'")
      let late = try await rig.ask("GET", Self.path + "/\(run.run_id)")
      #expect(late.status == 200)
      let run2 = try late.decode(Run.self)
      #expect(run2.finished && run2.committed == 1 && run2.started_at == run.started_at)
      // It is not over while users are to be enrolled.
      try await rig.psql("update tacet.campaign_runs set finished_at = null where id = '\(run.run_id)'")
      let open = try await rig.ask("GET", Self.path + "/\(run.run_id)").decode(Run.self)
      #expect(!open.finished && open.undecided == 0 && open.finished_at == nil)
    }
  }

  @Test("a dry run says who would be told something and why, writes nothing, and has nobody's words")
  func dry() async throws {
    try await ServiceRig.run { rig in
      try await rig.makeCoach()
      rig.startCampaigns()
      let (user, silent) = (try await rig.makeCoachedUser(), try await rig.makeCoachedUser())
      _ = try await rig.makeCoachedUser(isWilling: false)
      try await rig.psql("delete from messages where from_id = '\(silent)'")
      let answer = try await Self.post("?dry_run=true", in: rig)
      #expect(answer.status == 200)
      let preview = try answer.decode(Preview.self)
      #expect(preview.dry_run && preview.campaign == "coach" && preview.eligible == 2 && !preview.has_more)
      let told = Dictionary(uniqueKeysWithValues: preview.users.map { ($0.user_id, $0) })
      #expect(told[user]?.would_send == true && told[user]?.push_type == "re_engagement")
      #expect(told[silent]?.would_send == false && told[silent]?.reason == "nothing_to_say")
      for words in ["tulips", "roses", "moment", "Shall"] { #expect(!answer.body.contains(words)) }
      let one = try await Self.post("?user_id=\(user)&dry_run=true", in: rig).decode(Preview.self)
      #expect(one.eligible == 1 && one.users.map(\.user_id) == [user])
      let tables = ["campaign_runs", "occasions", "pushes", "inbox", "model_usage", "frequency_caps"]
      for table in tables { #expect(try await rig.psql("select count(*) from tacet.\(table)") == "0\n", "\(table)") }
    }
  }
}
