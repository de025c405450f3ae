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
