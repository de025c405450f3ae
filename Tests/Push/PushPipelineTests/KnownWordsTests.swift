import PushRules
import Testing

@testable import PushPipeline

@Suite("Tacet's own words, as the host has them")
struct KnownWordsTests {
  @Test("a host's words take the place of Tacet's once they are read, and are refused where they could not serve")
  func overridden() async throws {
    try await PipelineRig.run { rig, reactor in
      let words = rig.pipeline.words
      let german = LocaleTag("de-CH")
      #expect(words.current(on: reactor).text(.newMessage, in: german) == "Neue Nachricht")
      try await rig.execute(
        """
        select tacet.localise('tacet_new_message', 'de', body => 'Post ist da');
        select tacet.localise(
          'tacet_more', 'de', body => 'und {n} mehr', plural => '{"one": {"body": "und eine mehr"}}')
        """, on: reactor)
      await words.read(on: reactor)
      let known = words.current(on: reactor)
      #expect(known.text(.newMessage, in: german) == "Post ist da")
      #expect(known.text(.more, count: 1, in: german) == "und eine mehr")
      #expect(known.text(.more, count: 4, in: german) == "und 4 mehr")
      #expect(known.text(.more, count: 4, in: LocaleTag("fr")) == "+4 autres")
      for wrong in [
        "'tacet_more', 'de', 'title'", "'tacet_more', 'de', body => '{m}'", "'tacet_new_message', 'de', body => '{n}'",
        "'tacet_more', 'de', plural => '{\"one\": {\"body\": \"x\"}}'", "'tacet_other', 'de', body => 'x'",
        "null, 'de', body => 'x'",
      ] {
        await #expect(throws: (any Error).self) {
          try await rig.execute("select tacet.localise(\(wrong))", on: reactor)
        }
      }
    }
  }
}
