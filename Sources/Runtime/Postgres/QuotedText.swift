/// Texts inside SQL and shell commands.
/// They are read byte by byte, as PostgreSQL and shells read them. A `Character` may be a quote with U+0301 behind it or U+0600
/// before it, which equals no quote. A zero byte, which no name or text of a database has, is left out: it would end a command.
extension String {
  /// As `format('%I')` writes it: bare where that is the same name, otherwise in double quotes.
  package var quotedIdentifier: String {
    let isBare =
      !utf8.isEmpty && utf8.first.map { $0 < UInt8(ascii: "0") || $0 > UInt8(ascii: "9") } == true
      && utf8.allSatisfy {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || $0 == UInt8(ascii: "_")
      }
    return isBare && !Self.keywords.contains(self[...]) ? self : "\"\(doubling("\""))\""
  }

  /// As `format('%L')` writes it, whatever `standard_conforming_strings` is.
  package var quotedLiteral: String {
    utf8.contains(UInt8(ascii: "\\")) ? "E'\(doubling("'", "\\"))'" : "'\(doubling("'"))'"
  }

  /// Between dollar signs, with a word that the text does not have.
  package var dollarQuoted: String {
    let text = doubling()
    var tag = "$$"
    var number = 0
    while Array(text.utf8).firstRange(of: Array(tag.utf8)) != nil {
      number += 1
      tag = "$body\(number)$"
    }
    return "\(tag)\n\(text)\n\(tag)"
  }

  package var shellQuoted: String {
    let isPlain = utf8.allSatisfy { byte in
      byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
        || "-_./:@%+,=".utf8.contains(byte)
    }
    guard utf8.isEmpty || !isPlain else { return self }
    let parts = utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
    return "'" + parts.map { String(decoding: $0.filter { $0 != 0 }, as: UTF8.self) }.joined(separator: #"'\''"#) + "'"
  }

  /// On one line, for a comment: a name with a line break would end it.
  package var onOneLine: String {
    String(decoding: utf8.map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
  }

  private func doubling(_ doubled: Unicode.Scalar...) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count)
    for byte in utf8 where byte != 0 {
      if doubled.contains(Unicode.Scalar(byte)), byte < 0x80 { bytes.append(byte) }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Words that PostgreSQL reserves wholly or in part, or that could be read as something else in an expression. Quoting one
  /// too many does no harm.
  private static let keywords = Set(
    """
    all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case cast
    char character check coalesce collate collation column concurrently constraint create cross current_catalog
    current_date current_role current_schema current_time current_timestamp current_user dec decimal default
    deferrable desc distinct do else end except exists extract false fetch float for foreign freeze from full grant
    greatest group grouping having ilike in initially inner inout int integer intersect interval into is isnull join
    lateral leading least left like limit localtime localtimestamp national natural nchar none normalize not notnull
    null nullif numeric offset on only or order out outer overlaps overlay placing position precision primary real
    references returning right row select session_user setof similar smallint some substring symmetric system_user
    table tablesample then time timestamp to trailing treat trim true union unique user using values varchar variadic
    verbose when where window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi
    xmlroot xmlserialize xmltable
    """.split { $0 == " " || $0 == "\n" })
}
