import PushRules
import Testing

@testable import Settings

@Suite("The sections of the settings file")
struct AppSectionTests {
  @Test(
    "a section names an app",
    arguments: ["[app com.example.coach]", "  [ app   com.example.coach ]  ", "[app\tcom.example.coach]"])
  func headers(line: String) {
    let file = SettingsFile(text: "REACTORS=2\n\(line)\nAPNS_KEY_ID=ABC123DEFG\n# more\n\nAPNS_ENVIRONMENT=sandbox")
    #expect(file.problems == [])
    #expect(file.values == ["REACTORS": "2"])
    #expect(file.apps.map(\.bundleIdentifier.text) == ["com.example.coach"])
    #expect(file.apps.map(\.values) == [["APNS_KEY_ID": "ABC123DEFG", "APNS_ENVIRONMENT": "sandbox"]])
  }

  @Test("the next section ends it; an empty one is one too; each has its own values")
  func several() {
    let file = SettingsFile(text: "[app a]\n[app b]\nAPNS_KEY_ID=1\n[app c]\nAPNS_KEY_ID=2")
    #expect(file.problems == [])
    #expect(file.apps.map(\.bundleIdentifier.text) == ["a", "b", "c"])
    #expect(file.apps.map { $0.values["APNS_KEY_ID"] } == [nil, "1", "2"])
  }

  @Test(
    "a line in brackets that is no section is named by its number, and what follows it is nobody's",
    arguments: [
      "[", "[]", "[app]", "[app ]", "[app a b]", "[App a]", "[apps a]", "[a]", "[app a", "[app com/example]",
      "[app a] # ours", "[[app a]]",
    ])
  func malformed(line: String) {
    let file = SettingsFile(text: "REACTORS=2\n\(line)\nREACTORS=3\nAPNS_KEY_ID=1")
    #expect(
      file.problems.map(\.description) == [
        "TACET_CONFIG names a file whose line 2 is no section; expected [app BUNDLE], such as [app com.example.app]"
      ])
    #expect(file.values == ["REACTORS": "2"])
    #expect(file.apps == [])
  }

  @Test("a line cut anywhere is a section, a problem, or nothing; never a setting")
  func cut() {
    let header = "[app com.example.coach]"
    for length in 1..<header.utf8.count {
      let file = SettingsFile(text: String(header.prefix(length)))
      #expect(file.apps == [] && file.values == [:])
      #expect(file.problems.map(\.code) == [.malformed])
    }
  }

  @Test("an app has one section")
  func twice() {
    let file = SettingsFile(text: "[app a]\nAPNS_KEY_ID=1\n[app a]\nAPNS_KEY_ID=2")
    #expect(file.problems.map(\.description) == ["[app a] (settings file, line 3) is there a second time; keep one"])
    #expect(file.apps.map(\.values) == [["APNS_KEY_ID": "1"]])
  }

  @Test(
    "what does not belong into a section is named with its line",
    arguments: [
      (
        "LOG_LEVEL=info",
        "LOG_LEVEL (settings file, line 2) is no setting of an app; it belongs above the first section"
      ),
      (
        "APNS_URL=https://a",
        "APNS_URL (settings file, line 2) is no setting of an app; it belongs above the first section"
      ),
      ("APNS_BUNDLE_ID=b", "APNS_BUNDLE_ID (settings file, line 2) is what the section's name says; leave it out"),
      (
        "TACET_CONFIG=/f",
        "TACET_CONFIG (settings file, line 2) cannot be set in the file; it belongs into the environment"
      ),
      ("APNS_KEYID=1", "APNS_KEYID (settings file, line 2) is not a setting; did you mean APNS_KEY_ID?"),
      ("APNS_UR=1", "APNS_UR (settings file, line 2) is not a setting; did you mean APNS_KEY_ID?"),
    ])
  func misplaced(line: String, problem: String) {
    #expect(SettingsFile(text: "[app a]\n" + line).problems.map(\.description) == [problem])
  }

  @Test("a key set twice in a section is an error; set above it as well, it is not")
  func twiceInside() {
    let file = SettingsFile(text: "APNS_KEY_ID=0\n[app a]\nAPNS_KEY_ID=1\nAPNS_KEY_ID=2")
    #expect(
      file.problems.map(\.description) == ["APNS_KEY_ID (settings file, line 4) is set a second time; keep one"])
  }
}
