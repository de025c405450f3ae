/// Makes inputs that are mostly requests: each part is usually right and sometimes one of the known ways to be wrong.
struct RequestGrammar<Generator: RandomNumberGenerator> {
  private var generator: Generator
  /// One part in so many is not the usual one. Differs from input to input: some come close to being right, and what
  /// lies behind the first requests is reached; some have much wrong with them.
  private var unusual = 2

  init(generator: Generator) { self.generator = generator }

  /// One to four requests in a row.
  mutating func input() -> [UInt8] {
    unusual = [2, 12, 32, 96].randomElement(using: &generator) ?? 2
    return (0..<Int.random(in: 1...4, using: &generator)).flatMap { _ in Array(request().utf8) }
  }

  private mutating func request() -> String {
    let framing = pick(Self.framings)
    var fields = ["Host\(separator())\(pick(Self.hosts))"]
    for _ in 0..<Int.random(in: 0...3, using: &generator) {
      fields.append("\(pick(Self.names))\(separator())\(pick(Self.values))")
    }
    fields.insert(contentsOf: framing.fields, at: Int.random(in: 0...fields.count, using: &generator))
    let line =
      pick(Self.methods) + (rarely() ? pick(Self.blanks) : " ") + pick(Self.targets) + " " + pick(Self.versions)
    let head = ([line] + fields).map { $0 + lineEnd() }.joined() + lineEnd()
    return (rarely() ? lineEnd() : "") + head + (framing.isChunked ? chunks() : framing.content)
  }

  private mutating func chunks() -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0...3, using: &generator) {
      let data = pick(Self.contents)
      let size = rarely() ? pick(Self.sizes) : String(data.utf8.count, radix: 16)
      if !data.isEmpty { text += size + (rarely() ? pick(Self.extensions) : "") + lineEnd() + data + lineEnd() }
    }
    return text + "0" + lineEnd() + (rarely() ? "X: y" + lineEnd() : "") + lineEnd()
  }

  private mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
    // The first choice is the usual one.
    oneIn(unusual) ? choices[Int.random(in: 0..<choices.count, using: &generator)] : choices[0]
  }

  private mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }
  private mutating func rarely() -> Bool { oneIn(6 * unusual) }
  private mutating func lineEnd() -> String { oneIn(30 * unusual) ? pick(Self.lineEnds) : "\r\n" }
  private mutating func separator() -> String { rarely() ? pick(Self.separators) : ": " }
}

extension RequestGrammar {
  private typealias Framing = (fields: [String], content: String, isChunked: Bool)

  private static var methods: [String] { ["GET", "POST", "HEAD", "OPTIONS", "CONNECT", "get", "G(T", "PRI", "PUT"] }
  private static var versions: [String] {
    ["HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/1.10", "http/1.1", "HTTP/0.9", "HTTP/1.1 "]
  }
  private static var targets: [String] {
    [
      "/", "/a/b?c=d", "/missing", "*", "http://b/x", "http://b", "https://b/", "a:443", "/../a", "/%2e", "/%41", "/%",
      "/a#b", "/a b", "//", "http://u@b/", "/\u{e9}", "?a",
      "/mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm",
    ]
  }
  private static var hosts: [String] {
    ["a", "a:80", "[::1]:80", "a, b", "", "a:65536", "1.2.3.4", "[1:2]", "a b", "u@a", "%61"]
  }
  private static var names: [String] {
    [
      "X", "Connection", "Expect", "Content-Length", "Transfer-Encoding", "Host", "X ", " X", "TE", "Upgrade", "",
      "content-length", "Content_Length", "X\t", "Keep-Alive",
    ]
  }
  private static var values: [String] {
    [
      "y", "close", "keep-alive", "100-continue", "chunked", "0", "1", "5", "gzip, chunked", "chunked, chunked", "5, 5",
      "", "\u{e9}", "a\0b", "a\rb", "a\nb", "a\r\n b", "close, keep-alive", "chunked;q=1", "+5", "0x5", "\u{b}chunked",
    ]
  }
  private static var framings: [Framing] {
    [
      ([], "", false), (["Content-Length: 5"], "hello", false), (["Transfer-Encoding: chunked"], "", true),
      (["Content-Length: 0"], "", false), (["Content-Length: 65"], String(repeating: "x", count: 65), false),
      (["Content-Length: 18"], "GET / HTTP/1.1\r\n\r\n", false),
      (["Content-Length: 5", "Content-Length: 6"], "hello", false),
      (["Content-Length: 5", "Transfer-Encoding: chunked"], "", true), (["Transfer-Encoding: gzip"], "", true),
      (["Expect: 100-continue", "Content-Length: 2"], "hi", false), (["Transfer-Encoding:\r\n chunked"], "", true),
      (["Expect: 100-continue", "Transfer-Encoding: chunked"], "", true), (["Transfer-Encoding : chunked"], "", true),
      (["transfer-encoding: Chunked"], "", true), (["Transfer-Encoding: ,chunked"], "", true),
      (["Transfer-Encoding: chunked,"], "", true), (["Transfer-Encoding: xchunked"], "", true),
      (["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], "", true),
      (["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], "", true),
      (["Content-Length: 05"], "hello", false), (["Content-Length: +5"], "hello", false),
      (["Content-Length: 5, 5"], "hello", false), (["Content-Length: 5;"], "hello", false),
    ]
  }
  private static var contents: [String] { ["x", "hello", "\r\n0\r\n\r\n", String(repeating: "y", count: 40), "\0\n"] }
  private static var sizes: [String] {
    ["1", "0x1", "+1", " 1", "1 ", "fffffffffffffff", "10000000000000001", "", "g", "01"]
  }
  private static var extensions: [String] {
    [";a=b", ";a", " ; a = \"b\"", ";", ";a=\"\n\"", ";a=\"b", ";aaaaaaaaaaaaaaaaaaaaaaaaaaa"]
  }
  private static var lineEnds: [String] { ["\n", "\r", "\r\r\n", "\n\r", "", "\r\n\r\n", "\r\n ", "\u{85}"] }
  private static var separators: [String] { [":", ":\t", " : ", "", ":  ", "\t:"] }
  private static var blanks: [String] { ["  ", "\t", "", "\u{b}", "\u{a0}"] }
}
