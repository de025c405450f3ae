import Testing

@testable import APNSCore

@Suite("ASCII characters")
struct ASCIICharactersTests {
  @Test("the letters and digits are these and no others")
  func lettersAndDigits() {
    let found = (UInt8.min...UInt8.max).filter(\.isASCIILetterOrDigit)
    let expected = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    #expect(found.elementsEqual(expected.utf8))
  }
}
