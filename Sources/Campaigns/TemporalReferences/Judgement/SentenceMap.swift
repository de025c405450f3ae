/// Which lexemes of a sentence belong to one clause, and which clauses to one statement.
///
/// A pause ends a clause, what divides or contrasts ends a statement as well.
struct SentenceMap {
  let lexemes: [Lexeme]
  /// Whether the sentence ends with a question mark.
  let isQuestion: Bool
  /// The number of each lexeme's clause.
  private let clauses: [Int]
  /// The number of each lexeme's statement.
  private let statements: [Int]
  /// How many lexemes before each place join or separate things; one more than there are lexemes.
  private let joints: [Int]

  init(lexemes: [Lexeme], isQuestion: Bool) {
    self.lexemes = lexemes
    self.isQuestion = isQuestion
    var (clause, statement) = (0, 0)
    var (clauses, statements, joints): ([Int], [Int], [Int]) = ([], [], [0])
    for lexeme in lexemes {
      let divides = lexeme.kind == .mark(.divide) || lexeme.means(.contrast)
      if divides { statement += 1 }
      if divides || lexeme.isPause { clause += 1 }
      clauses.append(clause)
      statements.append(statement)
      joints.append(joints[joints.count - 1] + (lexeme.isJoint ? 1 : 0))
    }
    (self.clauses, self.statements, self.joints) = (clauses, statements, joints)
  }

  func areInOneClause(_ first: Int, _ second: Int) -> Bool { clauses[first] == clauses[second] }

  func areInOneStatement(_ first: Int, _ second: Int) -> Bool { statements[first] == statements[second] }

  /// Whether a lexeme that joins or separates things stands between two places.
  func hasJoint(in range: Range<Int>) -> Bool {
    joints[range.upperBound] > joints[range.lowerBound]
  }

  /// Whether only joints and prepositions stand between two places, at least one joint among them.
  func isList(in range: Range<Int>) -> Bool {
    hasJoint(in: range) && lexemes[range].allSatisfy { $0.isJoint || $0.means(.on) }
  }
}

extension Lexeme {
  fileprivate var isJoint: Bool { isPause || means(.and) || means(.or) }
}
