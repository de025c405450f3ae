import Testing

@testable import API

@Suite("Names that apps send")
struct NameSyntaxTests {
  @Test(
    "language tags are letters, then parts of one to eight letters and digits",
    arguments: [
      ("de", true), ("de-CH", true), ("zh-Hant-TW", true), ("sl-rozaj-biske-1994", true), ("x-private", true),
      ("abcdefgh", true), ("en-12345678", true), (tag(bytes: 85), true),
      ("", false), ("-", false), ("de-", false), ("-de", false), ("de--CH", false), ("de_CH", false), ("d3", false),
      ("abcdefghi", false), ("en-123456789", false), ("dé", false), ("de CH", false), ("de\u{0}", false),
      (tag(bytes: 86), false), ("de[", false), ("de`", false), ("de-@", false),
    ])
  func languageTags(text: String, isGood: Bool) {
    #expect(LanguageTag.isWellFormed(text) == isGood)
  }

  @Test(
    "a tag is read as POSIX and Java write it",
    arguments: [
      ("zh_Hans", "zh-Hans"), ("de_DE.UTF-8@euro", "de-DE"), ("de@" + String(repeating: "a", count: 200), "de"),
      ("_", nil), (String(repeating: "a", count: 90), nil),
    ])
  func posixTags(text: String, tag: String?) {
    #expect(LanguageTag.read(text) == tag)
  }

  @Test(
    "time zone names are parts of letters, digits and three signs",
    arguments: [
      ("UTC", true), ("Europe/Berlin", true), ("America/Argentina/ComodRivadavia", true), ("Etc/GMT+12", true),
      ("America/Port-au-Prince", true), ("EST5EDT", true), (String(repeating: "a", count: 64), true),
      ("", false), ("/", false), ("Europe/", false), ("/Berlin", false), ("Europe//Berlin", false), ("1/2", false),
      ("<+03>-3", false), ("Europe/Bérlin", false), ("Europe/Berlin ", false), ("a'", false), ("a\u{0}", false),
      (String(repeating: "a", count: 65), false), ("+03", false),
    ])
  func timeZoneNames(text: String, isGood: Bool) {
    #expect(TimeZoneName.isWellFormed(text) == isGood)
  }

  /// A well-formed tag of so many bytes.
  private static func tag(bytes: Int) -> String {
    let text = "de" + String(repeating: "-1", count: (bytes - 2) / 2)
    return bytes.isMultiple(of: 2) ? text : text + "1"
  }
}
