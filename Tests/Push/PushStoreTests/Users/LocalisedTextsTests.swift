import Foundation
import TestIDs
import Testing

@testable import PushRules
@testable import PushStore

@Suite("Texts of watched kinds in other locales")
struct LocalisedTextsTests {
  private func localise(_ scene: WatchScene, _ arguments: String) async throws {
    try await scene.database.sql("select tacet.localise('task_added', \(arguments))")
  }

  /// What the claim of one new task brings, with its words in a locale.
  private func words(_ scene: WatchScene, in locale: String, note: String = "'Tea'") async throws -> [String?] {
    try await scene.add(note: note)
    let push = try #require(try await claim(scene.database).first?.watchedRow)
    let target = PushTarget(address: "aa", keys: #"{"locale": "\#(locale)"}"#)
    guard let choice = push.choice(for: target.locale) else { return [push.title, push.body, nil] }
    let shown = push.inLocale(choice.shown)
    return [shown.title, shown.body, choice.shown.text]
  }

  @Test("an event brings its words in each locale that has a text, and nothing about locales without any", .uuidsOnly)
  func claimed() async throws {
    let scene = try await WatchScene.tasks()
    try await scene.add(note: "'Tea'")
    let plain = try #require(try await claim(scene.database).first?.watchedRow)
    #expect(!plain.isLocalised)
    #expect(
      try await scene.database.sql(
        "select c.content::text from public.tasks t, tacet.watched_row_content('task_added', t.id) c"
      ).contains("localised") == false)
    try await localise(scene, "'de', '{actor} hat {note} eingetragen', body => '{note}: neu'")
    try await localise(scene, "'pt_br', body => 'Novo: {note}'")
    #expect(try await words(scene, in: "de-AT") == ["Ada hat Tea eingetragen", "Tea: neu", "de"])
    #expect(try await words(scene, in: "pt-BR") == ["Ada added Tea", "Novo: Tea", "pt-BR"])
    #expect(try await words(scene, in: "pt-PT") == ["Ada added Tea", "Tea!", nil])
    try await localise(scene, "'DE', '{note}'")
    #expect(
      try await words(scene, in: "de") == ["Tea", "Tea!", "de"], "the second text of a locale replaces the first")
    #expect(try await scene.database.sql("select tacet.unlocalise('task_added', 'de')") == "1")
    #expect(try await words(scene, in: "de") == ["Ada added Tea", "Tea!", nil])
    #expect(try await scene.database.sql("select tacet.unlocalise('task_added')") == "1")
  }

  @Test("a text has the form that goes with its number")
  func plural() async throws {
    let scene = try await WatchScene.tasks()
    try await localise(
      scene,
      """
      'pl', 'zadania: {note}', counted => 'note',
      plural => '{"one": {"title": "{note} zadanie"}, "few": {"title": "{note} zadania", "body": "kilka"}, "many": {"title": "{note} zadań"}}'
      """)
    #expect(try await words(scene, in: "pl", note: "'1'") == ["1 zadanie", "1!", "pl"])
    #expect(try await words(scene, in: "pl", note: "'3'") == ["3 zadania", "kilka", "pl"])
    #expect(try await words(scene, in: "pl-PL", note: "'5'") == ["5 zadań", "5!", "pl"])
    #expect(try await words(scene, in: "pl", note: "'viele'") == ["zadania: viele", "viele!", "pl"])
    #expect(try await words(scene, in: "pl", note: "null") == ["zadania: ", "!", "pl"])
    #expect(try await words(scene, in: "pl", note: "'99999999999'") == ["99999999999 zadań", "99999999999!", "pl"])
  }

  @Test(
    "a text that no event could fill is refused at once",
    arguments: [
      "'deutsch', 'x'", "'', 'x'", "null, 'x'", "'de-AT-1996', 'x'", "'de'", "'de', ''", "'de', '{nothing}'",
      "'de', body => '{done_at}'", "'de', subtitle => '{nothing}'", "'de', repeat('x', 257)",
      "'de', body => repeat('x', 2049)", "'de', 'x', counted => 'note'",
      "'de', 'x', counted => 'done_at', plural => '{\"one\": {}}'",
      "'de', 'x', plural => '{\"one\": {\"body\": \"x\"}}'",
      "'de', 'x', counted => 'note', plural => '{\"other\": {\"body\": \"x\"}}'",
      "'de', 'x', counted => 'note', plural => '{\"one\": \"x\"}'", "'de', 'x', counted => 'note', plural => '[]'",
      "'de', 'x', counted => 'note', plural => '{\"one\": {\"sound\": \"x\"}}'",
      "'de', 'x', counted => 'note', plural => '{\"one\": {\"title\": \"\"}}'",
      "'de', 'x', counted => 'note', plural => '{\"one\": {\"body\": \"{nothing}\"}}'",
    ])
  func refused(arguments: String) async throws {
    let scene = try await WatchScene.tasks()
    await #expect(throws: (any Error).self) { try await localise(scene, arguments) }
    #expect(try await scene.database.sql("select count(*) from tacet.texts") == "0")
  }

  @Test("a kind that is not watched takes no text; one that is watched anew keeps its texts")
  func kinds() async throws {
    let scene = try await WatchScene.tasks()
    await #expect(throws: (any Error).self) {
      try await scene.database.sql("select tacet.localise('nothing', 'de', 'x')")
    }
    try await localise(scene, "'de', '{note} ist neu'")
    try await scene.watch(title: "{note} is new")
    #expect(try await words(scene, in: "de") == ["Tea ist neu", "Tea!", "de"])
    try await scene.watch("body => 'No more'", title: "New")
    #expect(try await words(scene, in: "de") == [" ist neu", "No more", "de"], "what its texts lack is left out")
  }

  @Test("thirty locales, and as many bytes as leave room for the event")
  func bounded() async throws {
    let scene = try await WatchScene.tasks()
    func localise(_ count: Int, _ body: String) async throws {
      try await scene.database.sql(
        """
        select tacet.localise('task_added', chr(97 + i / 26) || chr(97 + i % 26), '{note}', \(body))
        from generate_series(0, \(count - 1)) i
        """)
    }
    await #expect(throws: (any Error).self) { try await localise(31, "'x'") }
    await #expect(throws: (any Error).self) { try await localise(10, "repeat('x', 2000)") }
    #expect(try await scene.database.sql("select count(*) from tacet.texts") == "0")
    try await localise(30, "repeat('ü', 290)")
    try await scene.add(note: "repeat('ж', 4096)")
    let push = try #require(try await claim(scene.database).first?.watchedRow)
    #expect(push.presentation.localised?.texts.count == 30)
    #expect(push.inLocale(try #require(LocaleTag("ad"))).title == String(repeating: "ж", count: 400))
    #expect(push.body.hasSuffix("ж"))
  }

  @Test(
    "a value of the other direction is isolated in texts for people, and in nothing else",
    arguments: [
      ("{actor} added", "دانا", "\u{2068}دانا\u{2069} added"), ("{actor} added", "Dana", "Dana added"),
      ("أضاف {actor}", "Dana", "أضاف \u{2068}Dana\u{2069}"), ("أضاف {actor}", "دانا", "أضاف دانا"),
      ("{actor}", "دانا (Dana)", "دانا (Dana)"), ("{actor} added", "د\u{2069}ا", "\u{2068}دا\u{2069} added"),
    ])
  func direction(template: String, value: String, text: String) async throws {
    let scene = try await WatchScene.tasks()
    #expect(
      try await scene.database.sql(
        "select tacet.fill_text('\(template)', jsonb_build_object('actor', '\(value)'))") == text)
    let key =
      "select tacet.fill_presentation('{\"thread_id\": \"a {actor}\"}', '{\"actor\": \"دانا\"}') ->> 'thread_id'"
    #expect(try await scene.database.sql(key) == "a دانا")
  }

  @Test("keys of the app's translations are filled, and what is no list of texts is refused")
  func keys() async throws {
    let scene = try await WatchScene.tasks(
      """
      presentation => '{"title_loc_key": "ADDED", "title_loc_args": ["{actor}", "{note}"], "loc_key": "NOTE"}'
      """)
    try await scene.add(note: "'Tea'")
    let keys = try #require(try await claim(scene.database).first?.watchedRow?.presentation.translations)
    #expect(keys.title?.key == "ADDED" && keys.title?.arguments == ["Ada", "Tea"])
    #expect(keys.body?.key == "NOTE" && keys.body?.arguments == [] && keys.subtitle == nil)
    for wrong in [#""title_loc_args": "x""#, #""title_loc_args": [1]"#, #""loc_args": ["{nothing}"]"#] {
      await #expect(throws: (any Error).self) { try await scene.watch("presentation => '{\(wrong)}'") }
    }
  }

  @Test("a user's locale is one that a device asks for, whatever the others have")
  func userLocale() async throws {
    let database = try await TestDatabase.migrated()
    let user = HostID.new()
    try await database.sql(
      """
      create table public.keys (k text);
      create or replace function tacet.push_targets(user_id uuid)
      returns table (channel text, address text, environment text, app text, keys text) language sql stable as
      $$ select 'apns', k, null, null, k from public.keys $$
      """)
    for (keys, locale) in [
      ("{\"locale\": \"de_at\"}", "de-AT"), ("{\"locale\": ", ""), ("{\"locale\": 1}", ""), ("[\"locale\"]", ""),
      ("{\"x\": \"locale\"}", ""),
    ] {
      try await database.sql("truncate public.keys; insert into public.keys values (null), ('{}'), ('\(keys)')")
      #expect(try await database.sql("select tacet.user_locale('\(user)')") == locale, "\(keys)")
    }
    try await database.sql(#"insert into public.keys values ('{"locale": "pl"}')"#)
    let found = try await database.sql("select tacet.user_locale('\(user)')")
    #expect(found == "pl", "one that cannot be read hides no other")
  }
}
