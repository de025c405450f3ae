/// The signatures of RFC 7515 appendix A.
struct JWSExamples: Decodable {
  struct HS256: Decodable {
    let signed: String
    let signature: String
    let k: String
  }

  struct RS256: Decodable {
    let signed: String
    let signature: String
    let n: String
    let e: String
  }

  struct ES256: Decodable {
    let signed: String
    let signature: String
    let x: String
    let y: String
    let d: String
  }

  let HS256: HS256
  let RS256: RS256
  let ES256: ES256

  static func read() throws -> JWSExamples { try VectorFile.read("rfc7515-signatures") }
}
