@_spi(PluginMessage) import SwiftCompilerPluginMessageHandling
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// The compiler starts this program and asks it to expand macros. In place of the module SwiftCompilerPlugin, which the
/// toolchain does not have as a library for others.
@main struct Plugin: PluginProvider {
    struct NoSuchMacro: Error { let name: String }

    func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
        switch typeName {
        case "ModelMacro": ModelMacro.self
        case "MarkerMacro": MarkerMacro.self
        case "SnapshotMacro": SnapshotMacro.self
        default: throw NoSuchMacro(name: typeName)
        }
    }

    static func main() throws {
        try CompilerPluginMessageListener(connection: StandardIOMessageConnection(), provider: Plugin()).main()
    }
}

/// What a model or snapshot says that cannot be, at the place where it says it.
struct Mistake: DiagnosticMessage {
    let id: String
    let message: String
    var diagnosticID: MessageID { MessageID(domain: "RealmMacros", id: id) }
    var severity: DiagnosticSeverity { .error }
}

extension MacroExpansionContext {
    func report(_ id: String, _ message: String, at node: some SyntaxProtocol) {
        diagnose(Diagnostic(node: Syntax(node), message: Mistake(id: id, message: message)))
    }
}

/// `@PrimaryKey` and its like say something to `@Model`, and nothing by themselves; outside of a model they are a
/// mistake.
struct MarkerMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let parent = context.lexicalContext.first?.as(ClassDeclSyntax.self)
        if parent?.attributes.contains(where: { $0.name == "Model" }) != true {
            context.report(
                "marker", "'@\(node.attributeName.trimmedDescription)' is for properties of a class with '@Model'",
                at: node)
        }
        return []
    }
}

extension AttributeListSyntax.Element {
    /// The attribute's name without its arguments; nil for `#if`.
    var name: String? { self.as(AttributeSyntax.self)?.attributeName.trimmedDescription }
}
