import PushRules
import PushStore
import Reactors
import TestIDs
import Testing

@testable import Campaigns

@Suite("Runs of the campaign lapse")
struct LapseRunTests {
  /// A user who was last active so long ago, and of whom something is known.
  private static func addUser(_ scene: CoachScene, response: String = "check_in_on_me", idle: String = "4 days")
    async throws
    -> HostID
  {
    let user = try await scene.addUser()
    try await scene.sql(
      """
      update context_profiles
      set communication_preferences = '{"absence_response": "\(response)", "preferred_times": ["morning"], "frequency": "daily"}',
        notification_preferences = '{}',
        coaching_facts = '{"primary_goal": "Run 5 km", "personality_traits": ["curious", "stubborn"], "last_workout_type": null}'
      where user_id = '\(user)';
      insert into tacet.activity (user_id, last_active, session_began_at)
      values ('\(user)', now() - interval '\(idle)', now() - interval '\(idle)')
      """)
    return user
  }

  private static let columns = """
    select p.kind, p.title, p.body, p.data ->> 'user_id' = p.user_id::text, p.presentation ->> 'collapse_id',
      d.inputs #>> '{writing,by}', d.inputs #>> '{writing,failure}', a.re_engagement_attempts
    from tacet.pushes p join tacet.occasions d on d.push_id = p.id join tacet.activity a on a.user_id = p.user_id
    """

  private static let template = "We miss you!|Your coach is waiting to help you get back on track."

  @Test(
    "write with the model where it is good, and with the template where it fails, is late or breaks a rule",
    arguments: [
      (
        .success(#"{"title": "Hi Ada", "body": "Ready for a first step?"}"#), "Hi Ada|Ready for a first step?", "model|"
      ),
      (.success("Hi Ada | We miss you, come back!"), "Hi Ada|We miss you, come back!", "model|"),
      (.success("Hi Ada"), template, "template|reply_wrong_shape"),
      (.success("Hi|Look at www.example.com"), template, "template|reply_has_link"),
      (.failure(.timedOut), template, "template|model_timed_out"),
      (.failure(.serverFailure), template, "template|model_server_failure"),
    ] as [(Result<String, LanguageModelError>, String, String)])
  func writes(reply: Result<String, LanguageModelError>, text: String, by: String) async throws {
    let scene = try await CoachScene(with: "engagement")
    let user = try await Self.addUser(scene)
    let writer = ScriptedWriter(reply)
    try await scene.withRunner(writer) { runner, store, reactor in
      let run = try await store.enrol("lapse", onlyUser: nil, on: reactor)
      #expect(run?.enrolled == 1)
      await runner.look(on: reactor)
    }
    #expect(try await scene.decision(of: user, campaign: "lapse") == "committed - lapse")
    #expect(try await scene.sql(Self.columns) == "reengagement|\(text)|t|lapse_4|\(by)|1")
    #expect(writer.limits == [.seconds(2)])
    let prompt = try #require(writer.prompts.first)
    #expect(
      prompt.material.hasSuffix(
        """
        <person>
        name: Ada
        days_away: 4
        primary_goal: Run 5 km
        attempts: 0
        personality_traits: curious, stubborn
        </person>
        """))
  }

  @Test("send the template when the day's budget is spent, and without a model", arguments: [true, false])
  func budget(hasModel: Bool) async throws {
    let scene = try await CoachScene(with: "engagement")
    _ = try await Self.addUser(scene)
    let writer = hasModel ? ScriptedWriter() : nil
    try await scene.run("lapse", writer, limits: ModelUsageLimits(tokensMax: 10, costMicrodollarsMax: 10))
    let reason = hasModel ? "model_budget_spent" : "model_not_configured"
    #expect(try await scene.sql(Self.columns) == "reengagement|\(Self.template)|t|lapse_4|template|\(reason)|1")
    #expect(writer?.prompts.isEmpty ?? true)
  }

  @Test("leave out what the host does not know, and send when its function fails")
  func unknown() async throws {
    let scene = try await CoachScene(with: "engagement")
    _ = try await Self.addUser(scene)
    try await scene.sql("alter table context_profiles drop column coaching_facts")
    let writer = ScriptedWriter()
    try await scene.run("lapse", writer)
    #expect(try await scene.sql("select count(*) from tacet.pushes") == "1")
    #expect(writer.prompts.first?.material.hasSuffix("<person>\ndays_away: 4\nattempts: 0\n</person>") == true)
  }

  @Test("concern nobody who is not away, wants space or has said nothing")
  func nobody() async throws {
    let scene = try await CoachScene(with: "engagement")
    let users = [
      try await Self.addUser(scene, response: "give_me_space"), try await Self.addUser(scene, idle: "2 days 20 hours"),
      try await scene.addUser(),
    ]
    try await scene.withRunner { _, store, reactor in
      let run = try await store.enrol("lapse", onlyUser: nil, on: reactor)
      #expect(run?.enrolled == 0)
    }
    var refusals: [String] = []
    for user in users {
      refusals.append(
        try await scene.sql(
          "select refusal from tacet.campaign_refusals('lapse', '{\(user)}', array[now()], '{null}', '{null}')"))
    }
    #expect(refusals == ["space_wanted", "not_lapsed", "no_preference"])
  }
}
