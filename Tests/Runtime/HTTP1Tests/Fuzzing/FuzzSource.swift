import TestRandomness

/// The inputs of a run: made by the grammar or taken from the seeds, then damaged, mostly a little.
struct FuzzSource {
  private let seeds: [[UInt8]]
  private var grammar: RequestGrammar<SeededGenerator>
  private var mutator: InputMutator<SeededGenerator>
  private var generator: SeededGenerator

  init(seed: UInt64, seeds: [[UInt8]]) {
    self.seeds = seeds
    grammar = RequestGrammar(generator: SeededGenerator(seed: seed, part: 0))
    mutator = InputMutator(generator: SeededGenerator(seed: seed, part: 1))
    generator = SeededGenerator(seed: seed, part: 2)
  }

  mutating func next() -> [UInt8] {
    let other = fresh()
    let times = [0, 0, 0, 1, 2, 6].randomElement(using: &generator) ?? 0
    return mutator.mutate(fresh(), with: other, times: times)
  }

  private mutating func fresh() -> [UInt8] {
    guard Int.random(in: 0..<4, using: &generator) == 0, let seed = seeds.randomElement(using: &generator) else {
      return grammar.input()
    }
    return seed
  }
}

/// What runs start from: the corpus and the cases of the tables that fit in one segment.
var fuzzSeeds: [[UInt8]] {
  fuzzCorpus.map { Array($0.utf8) } + allCases.map { Array($0.input.utf8) }.filter { $0.count < 2000 }
}

/// Inputs that have found something, here or elsewhere, or that come close to doing so.
let fuzzCorpus: [String] = [
  // The answer to a refused request must not inherit from a HEAD before it that it goes without content.
  "HEAD / HTTP/1.1\r\nHost: a\r\n\r\nX\r\n",
  "HEAD / HTTP/1.1\r\nHost: a\r\n\r\nHEAD / HTTP/1.1\r\nHost : a\r\n\r\n",
  // A line too many at the end of the connection is no request.
  "GET / HTTP/1.1\r\nHost: a\r\n\r\n\r\n",
  // A length that another reader takes for another.
  "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 0\r\n\r\nGET /",
  "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nTransfer-Encoding: ,chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
  // A chunk line whose end another reader sees elsewhere.
  "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;\nxx\r\n4c\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
  "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;a=\"\r\n\"\r\nx\r\n0\r\n\r\n",
  "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxx\n0\r\n\r\n",
  // A size below zero ended the process of the fuzzer itself.
  "GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n",
  // Content that is thrown away and looks like a request.
  "POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 27\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
  // Exactly at the limits of the fuzzed connection, and one byte beyond.
  "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 64\r\n\r\n" + String(repeating: "x", count: 64),
  "POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 48\r\n\r\n" + String(repeating: "x", count: 48),
  "POST /m HTTP/1.1\r\nHost: a\r\nContent-Length: 49\r\n\r\n" + String(repeating: "x", count: 49),
  "GET /" + String(repeating: "x", count: 82) + " HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET /" + String(repeating: "x", count: 83) + " HTTP/1.1\r\nHost: a\r\n\r\n",
]

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

/// Damages inputs: single bytes, numbers, lines, and pieces of other inputs.
struct InputMutator<Generator: RandomNumberGenerator> {
  var generator: Generator

  private static var numbers: [String] {
    [
      "0", "1", "00", "63", "64", "65", "255", "256", "-1", "+1", "3f", "40", "41", "2147483648", "4294967296",
      "9223372036854775807", "9223372036854775808", "18446744073709551616", "7fffffffffffffff", "fffffffffffffff",
    ]
  }
  private static var bytes: [UInt8] { Array("\r\n \t:;,=\"\\%/?*.0\0\u{7f}".utf8) + [0x0b, 0x0c, 0x80, 0xa0, 0xff] }

  /// - Parameter other: an input to take pieces from.
  mutating func mutate(_ input: [UInt8], with other: [UInt8], times: Int) -> [UInt8] {
    var input = input
    for _ in 0..<times {
      switch random(9) {
      case 0: flip(&input)
      case 1: input.insert(Self.bytes[random(Self.bytes.count)], at: random(input.count + 1))
      case 2: input.removeSubrange(range(in: input))
      case 3: input.insert(contentsOf: input[range(in: input)], at: random(input.count + 1))
      case 4: input.replaceSubrange(range(in: input), with: other[range(in: other)])
      case 5: duplicateLine(&input)
      case 6: replaceNumber(&input)
      case 7: input = Array(input.prefix(random(input.count + 1))) + other.suffix(random(other.count + 1))
      default: if !input.isEmpty { input[random(input.count)] = Self.bytes[random(Self.bytes.count)] }
      }
    }
    return input
  }

  private mutating func random(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

  private mutating func range(in input: [UInt8]) -> Range<Int> {
    let start = random(input.count + 1)
    return start..<min(input.count, start + random(24))
  }

  private mutating func flip(_ input: inout [UInt8]) {
    guard !input.isEmpty else { return }
    input[random(input.count)] ^= 1 << UInt8(random(8))
  }

  /// Copies one line to the start of another.
  private mutating func duplicateLine(_ input: inout [UInt8]) {
    let starts = [0] + input.indices.filter { input[$0] == 0x0a }.map { $0 + 1 }
    let start = starts[random(starts.count)]
    let end = input[start...].firstIndex(of: 0x0a).map { $0 + 1 } ?? input.count
    input.insert(contentsOf: input[start..<end], at: starts[random(starts.count)])
  }

  /// Puts a number at the edge of something in the place of another.
  private mutating func replaceNumber(_ input: inout [UInt8]) {
    let digits = input.indices.filter { (0x30...0x39).contains(input[$0]) }
    guard !digits.isEmpty else { return }
    let start = digits[random(digits.count)]
    let end = input[start...].firstIndex { !(0x30...0x39).contains($0) } ?? input.count
    input.replaceSubrange(start..<end, with: Array(Self.numbers[random(Self.numbers.count)].utf8))
  }
}
