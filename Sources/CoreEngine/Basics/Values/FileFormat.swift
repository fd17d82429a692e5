/// The numbers of the file format that several layers must know. Format: storage §1, §2.
enum Format {
    /// Prefix of the names of tables that hold a class.
    static let classPrefix: Name = "class_"

    /// The format that this engine writes.
    static let currentVersion: UInt8 = 24

    /// Formats that can be read in place; they are upgraded to 24 when they are opened for writing.
    static func isReadable(_ version: UInt8) -> Bool {
        switch version {
        case 2...11, 20...24: true
        default: false
        }
    }

    /// A reader maps the file section by section: no allocation may cross a multiple of this. Format: storage §3.5.
    static let sectionSize = 1 << 26
    static let headerSize = 24
    static let streamingFooterSize = 16

    /// The maximum number of elements in one node (24 bits).
    static let maxElementCount = 0xFF_FFFF

    /// Longest blob in one node; longer binaries are lists of blobs. Format: storage §2.6.
    static let maxBlobSize = 0xFF_FFF8 - 8

    /// Longest string a property takes: one blob less its terminating zero byte.
    static let maxStringSize = maxBlobSize - 1

    /// Objects in a cluster leaf, children of a cluster inner node.
    static let clusterCapacity = 256

    /// Elements in a B+tree leaf, children of a B+tree inner node, keys in an index node.
    static let treeCapacity = 1000

    /// Maximum depth of a recursion over nodes: a hundred nested collections of five nodes each, and the tables above
    /// them. A longer chain is a cycle.
    static let maxNodeDepth = 640

    /// `n` rounded up to a multiple of 8.
    @inline(__always) static func padded(_ n: Int) -> Int { (n &+ 7) & ~7 }

    @inline(__always) static func roundUp(_ n: Int, to multiple: Int) -> Int {
        (n + multiple - 1) / multiple * multiple
    }
}
