import Postgres
import TestPostgres
import TestProcesses
import Testing

@Suite("Names and texts in SQL and shells")
struct QuotedTextTests {
  private static let names = [
    "plain", "two words", "we\"ird", "\"", "Upper", "from", "user", "9lives", "_x9", "a\nb", "x; drop table y; --",
    "naïve", "a\\b", "a'b", "$$", "$body1$", "select", "Order", "semi;colon", "tab\t", "é", "", "\\", "''",
    "it's \\ here", "'\u{301}", "\"\u{301}", "\u{600}'", "\u{600}\"",
    "\\\u{301}'; --", "\u{600}$$", "$$\u{301}", "a\"\u{301}; drop table y; --", "a'\u{20e3}; drop table y; --",
    "e\u{301}", "\u{1f468}\u{200d}\"\u{200d}'",
  ]

  @Test("read as the same names and texts again")
  func quoted() async throws {
    let server = try await TestPostgres.shared
    for name in Self.names {
      let literal = name.quotedLiteral
      #expect(try await server.psql("select \(literal)").dropLast() == name)
      let bytes = try await server.psql("select encode(convert_to($q$\(name)$q$, 'UTF8'), 'hex')")
      #expect(try await server.psql("select encode(convert_to(\(literal), 'UTF8'), 'hex')") == bytes)
      let body = try await server.psql("select encode(convert_to(\(name.dollarQuoted), 'UTF8'), 'hex')")
      #expect(body == "0a\(bytes.dropLast())0a\n")
      guard !name.isEmpty else { continue }
      let column =
        "select encode(convert_to(max(key), 'UTF8'), 'hex') from json_object_keys((select row_to_json(t) from (select 1 as"
      #expect(try await server.psql("\(column) \(name.quotedIdentifier)) t)) key") == bytes, "\(name)")
    }
  }

  @Test("a body is quoted by a word that it does not have")
  func dollars() {
    #expect("select 1".dollarQuoted == "$$\nselect 1\n$$")
    #expect("a$$b".dollarQuoted == "$body1$\na$$b\n$body1$")
    #expect("a$$\u{301}".dollarQuoted == "$body1$\na$$\u{301}\n$body1$")
    #expect("a\u{600}$$b$body1$\u{301}".dollarQuoted == "$body2$\na\u{600}$$b$body1$\u{301}\n$body2$")
    #expect("a$$b$body1$".dollarQuoted == "$body2$\na$$b$body1$\n$body2$")
  }

  @Test("a comment stays on its line")
  func oneLine() {
    #expect("a\nb\r\nc\u{7f}d".onOneLine == "a b  c d")
  }

  @Test("are the same arguments again in a shell")
  func shell() throws {
    for name in Self.names {
      #expect(try run(["sh", "-c", "printf '%s.' \(name.shellQuoted)"]) == name + ".")
    }
    #expect("/tmp/a-b_c.sql".shellQuoted == "/tmp/a-b_c.sql")
    #expect("".shellQuoted == "''")
  }

  @Test("end nothing by a zero byte")
  func zeroBytes() {
    #expect("a\0\"b".quotedIdentifier == "\"a\"\"b\"")
    #expect("a\0'b".quotedLiteral == "'a''b'")
    #expect("a\0b".dollarQuoted == "$$\nab\n$$")
    #expect("a\0b".shellQuoted == "'ab'")
    #expect("a\0b".onOneLine == "a b")
  }
}
