import Testing

@testable import HTTP1

private let unreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
private let subDelimiters = "!$&'()*+,;="

@Suite struct ByteSetTests {
  @Test("each constant is its list of characters")
  func matchesCharacters() {
    expect(.token, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~")
    expect(.path, unreserved + subDelimiters + ":@/")
    expect(.query, unreserved + subDelimiters + ":@/?")
    expect(.hostName, unreserved + subDelimiters)
  }

  private func expect(_ set: ByteSet, _ characters: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let members = (UInt8.min...UInt8.max).filter { set.contains($0) }
    #expect(members == characters.utf8.sorted(), sourceLocation: sourceLocation)
  }
}

@Suite struct FirstControlTests {
  @Test("every byte is judged alike at every place, among others of any kind", arguments: 0...UInt8.max)
  func judgesEveryByte(_ byte: UInt8) {
    for filler in [UInt8(ascii: "a"), 0x20, 0x7e, 0x80, 0xff, .tab] {
      for place in 0..<20 {
        var bytes = [UInt8](repeating: filler, count: 20)
        bytes[place] = byte
        let expected = byte.isControl ? place : bytes.count
        let found = bytes.span.firstControl(from: 0, to: bytes.count)
        #expect(found == expected, "0x\(String(byte, radix: 16)) at \(place) among 0x\(String(filler, radix: 16))")
      }
    }
  }

  @Test("what stands before the start and from the end on does not count")
  func keepsToItsRange() {
    var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 20)
    (bytes[2], bytes[17]) = (0, 0)
    for start in 3...17 {
      #expect(bytes.span.firstControl(from: start, to: 17) == 17)
      #expect(bytes.span.firstControl(from: start, to: 18) == 17)
    }
  }
}
