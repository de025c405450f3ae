import Testing

@testable import embed_files

@Suite("Named statements")
struct NamedStatementTests {
  /// Statements with parameters `:a` and `:b_c`, and what the server gets; nil where the file is refused.
  private static let texts: [(String, String?)] = [
    ("select :a, :b_c, :a", "select $1, $2, $1"),
    ("select :a::uuid[], x::text, :b_c::int4", "select $1::uuid[], x::text, $2::int4"),
    ("select (:a)from t where x=:b_c", "select ($1)from t where x=$2"),
    ("select a - :a, a / :b_c, a ->> 'b'", "select a - $1, a / $2, a ->> 'b'"),
    // Slices.
    ("select x[:100], x[2:a], x[f(1):a], x[y[1]:a], :a, :b_c", "select x[:100], x[2:a], x[f(1):a], x[y[1]:a], $1, $2"),
    ("select x[n - 1:], x[:n], array[:a, :b_c]", "select x[n - 1:], x[:n], array[$1, $2]"),
    ("select x[n], :n, :a, :b_c", nil),
    // Quotations.
    ("select ':a', 'it''s :a', :a, :b_c", "select ':a', 'it''s :a', $1, $2"),
    (#"select E'\':a', e'\\', (E'\':a'), :a, :b_c"#, #"select E'\':a', e'\\', (E'\':a'), $1, $2"#),
    (#"select name'\', '\', :a, :b_c"#, #"select name'\', '\', $1, $2"#),
    (#"select ":a", "x"":a", :a, :b_c"#, #"select ":a", "x"":a", $1, $2"#),
    ("select $$:a 'x$$, $t$ :a $$ $t$, :a, :b_c", "select $$:a 'x$$, $t$ :a $$ $t$, $1, $2"),
    ("select ':a, :b_c", nil),
    (#"select ":a, :b_c"#, nil),
    ("select $x$ :a, :b_c $y$", nil),
    // Comments.
    ("select 1 -- :a isn't\n, :a, :b_c", "select 1 -- :a isn't\n, $1, $2"),
    ("select 1 /* :a isn't\n */, :a, :b_c", "select 1 /* :a isn't\n */, $1, $2"),
    ("select 1,\n  -- :a isn't\n  :a, :b_c", "select 1,\n  $1, $2"),
    ("select /* :a, :b_c", nil),
    // Ends.
    ("\nselect ';', :a, :b_c\n;\n\n", "select ';', $1, $2"),
    ("select :a, :b_c; select 1", nil),
    (";\n", nil), ("", nil),
    // Parameters.
    ("select :a, :b_c, :b", nil),
    ("select :a", nil),
  ]

  @Test("parameters are numbered, and nothing else is", arguments: texts)
  func numbers(_ text: String, _ expected: String?) {
    let file = try? NamedStatement(
      name: "one", text: "(a uuid, b_c text[])\n-- One.\n\n" + text)
    #expect(file?.sql == expected)
    #expect(file.map { $0.parameters.map(\.type) == ["uuid", "text[]"] } ?? true)
  }

  @Test(
    "a parameter has a name and a type",
    arguments: ["(a)", "(:a uuid)", "(A uuid)", "(a uuid;)", "(a  uuid)", "(a uuid,)", "()", "(a uuid"])
  func declarations(_ parameters: String) {
    #expect(throws: NamedStatement.Defect.self) {
      try NamedStatement(name: "one", text: "\(parameters)\n-- One.\n\nselect :a")
    }
  }

  @Test("parameters may take several lines, and have different names")
  func lists() throws {
    let statement = try NamedStatement(
      name: "one", text: "(\n--   a uuid,\n--   b text[])\n-- One (:a).\n\nselect :b, :a")
    #expect(statement.parameters == [.init(name: "a", type: "uuid"), .init(name: "b", type: "text[]")])
    #expect(statement.sql == "select $2, $1")
    #expect(throws: NamedStatement.Defect(":a is declared twice")) {
      try NamedStatement(name: "one", text: "(a uuid, a text)\n\nselect :a")
    }
  }

  @Test("a file holds any number of statements, and what they share once")
  func files() throws {
    let text = """
      -- About the file.

      -- name: one(a uuid)
      -- Returns one row.

      select x, :a
      -- include: rest

      -- name: all
      -- Returns every row, whatever :a is.

      select x
        -- include: rest
      limit 1;

      -- part: rest
      from t
      -- include: condition

      -- part: condition
      where true

      """
    let statements = try NamedStatement.statements(in: text)
    #expect(statements.map(\.name) == ["one", "all"])
    #expect(statements.map(\.parameters.count) == [1, 0])
    #expect(statements.map(\.sql) == ["select x, $1\nfrom t\nwhere true", "select x\nfrom t\nwhere true\nlimit 1"])
  }

  @Test(
    "a part is there once and included",
    arguments: [
      ("-- name: one\nselect 1\n-- include: rest", "there is no part rest"),
      ("-- name: one\nselect 1\n-- part: rest\nfrom t", "nothing includes rest"),
      ("-- name: one\n-- part: rest\n-- part: rest\n", "two parts have one name"),
      ("-- name: one\n-- include: a\n-- part: a\n-- include: b\n-- part: b\n-- include: a", "a includes itself"),
    ])
  func parts(_ text: String, _ defect: String) {
    #expect(throws: NamedStatement.Defect(defect)) { try NamedStatement.statements(in: text) }
  }

  @Test("Swift names are the words in camel case, with the field's abbreviations")
  func names() {
    #expect(
      ["claim", "claim_messages", "user_id", "log_ids", "id", "lease_us", "meaning_of_id"].map(NamedStatement.swiftName)
        == ["claim", "claimMessages", "userID", "logIDs", "id", "leaseMicroseconds", "meaningOfID"])
  }

  @Test("a statement becomes a constant and a call with labels")
  func swift() throws {
    let head = "(user_id uuid, kinds text[])\n-- Marks.\n\n"
    let file = try NamedStatement(name: "mark_read", text: head + "select '\"\"\"#', :user_id, :kinds;\n")
    #expect(
      try file.declaration() == #####"""
          static let markRead = PostgresStatement("mark_read", ##"""
        select '"""#', $1, $2
        """##, [.uuid, .array(of: .text)])

        """#####)
    #expect(
      file.call == """
          static func markRead(userID: any PostgresEncodable, kinds: any PostgresEncodable) -> StatementCall {
            StatementCall(PushStatements.markRead, [userID, kinds])
          }

        """)
    #expect(throws: NamedStatement.Defect.self) {
      try NamedStatement(name: "one", text: "(a point)\n\nselect :a").declaration()
    }
  }
}
