internal import FoundationEssentials
internal import HTTPServing

/// A JSON object that the control endpoint takes. A member it does not know is refused: a misspelt one would otherwise do
/// nothing, quietly, in the middle of somebody's test.
protocol ControlDocument: Decodable {
  associatedtype CodingKeys: CodingKey & CaseIterable
}

extension ControlDocument {
  /// Reads a body.
  /// - Throws: `ProblemDetails` with 400, naming what is wrong.
  static func read(_ body: [UInt8]) throws(ProblemDetails) -> Self {
    do {
      let names = try JSONDecoder().decode(MemberNames.self, from: Data(body)).names
      let known = Set(CodingKeys.allCases.map(\.stringValue))
      if let stranger = names.subtracting(known).sorted().first {
        throw ProblemDetails.unfit("\(stranger) is none of \(known.sorted().joined(separator: ", "))")
      }
      return try JSONDecoder().decode(Self.self, from: Data(body))
    } catch let error as ProblemDetails {
      throw error
    } catch {
      throw ProblemDetails.unfit("the body does not fit: \(error)")
    }
  }
}

/// The names of an object's members, whatever they are.
private struct MemberNames: Decodable {
  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init?(stringValue: String) {
      self.stringValue = stringValue
    }

    init?(intValue: Int) {
      return nil
    }
  }

  let names: Set<String>

  init(from decoder: any Decoder) throws {
    names = Set(try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue))
  }
}
